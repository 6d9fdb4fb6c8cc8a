"""Does not know ping."""

from lines import answer, requests, write

for request in requests():
    if request["method"] == "ping":
        write({"id": request["id"], "error": {"code": -32601, "message": "Method not found"}})
    else:
        write(answer(request))
