"""Leaves resultType out."""

from lines import answer, requests, write

for request in requests():
    message = answer(request, era="now")
    message.get("result", {}).pop("resultType", None)
    write(message)
