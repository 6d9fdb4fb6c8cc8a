"""Has a tool on both of its pages."""

from lines import TOOL, answer, requests, write

for request in requests():
    message = answer(request)
    if request["method"] == "tools/list" and "cursor" in request.get("params", {}):
        message["result"]["tools"] = [TOOL, {**TOOL, "name": "subtract"}]
    elif request["method"] == "tools/list":
        message["result"]["nextCursor"] = "2"
    write(message)
