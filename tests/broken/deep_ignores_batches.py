"""Passes over what it does not understand."""

from lines import answer, requests, write

for request in requests():
    if isinstance(request.get("params", {}), dict):
        write(answer(request))
