"""Has a page without anything on it, and names a next one."""

from lines import answer, requests, write

for request in requests():
    message = answer(request)
    if request["method"] == "tools/list" and "cursor" not in request.get("params", {}):
        message["result"].update({"tools": [], "nextCursor": "2"})
    write(message)
