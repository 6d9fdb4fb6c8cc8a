"""Lists its tools, and does not answer when it is asked again."""

from lines import answer, requests, write

count = 0
for request in requests():
    count += request["method"] == "tools/list"
    if request["method"] == "tools/list" and count > 1:
        write({"id": request["id"], "error": {"code": -32603, "message": "only once"}})
    else:
        write(answer(request))
