"""Has a list of a thousand pages, each of which takes its time: no examination sees the end of it."""

import time

from lines import TOOL, answer, requests, write

for request in requests():
    if request["method"] == "tools/list":
        time.sleep(0.3)
        page = int(request.get("params", {}).get("cursor", 0))
        tools = [{**TOOL, "name": f"add_{page}"}]
        write({"id": request["id"], "result": {"tools": tools, "nextCursor": str(page + 1)}})
    else:
        write(answer(request))
