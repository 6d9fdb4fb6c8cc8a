"""An older server that refuses the probe with another code than -32601: as it may."""

from lines import answer, requests, write

for request in requests():
    if request["method"] == "server/discover":
        write({"id": request["id"], "error": {"code": -32602, "message": "Invalid request parameters"}})
    else:
        write(answer(request))
