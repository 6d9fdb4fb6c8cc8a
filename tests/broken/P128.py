"""Loses the id of the request in an error."""

from lines import answer, requests, write

for request in requests():
    if request["method"] == "tools/list":
        write({"id": None, "error": {"code": -32603, "message": "it broke"}})
    else:
        write(answer(request))
