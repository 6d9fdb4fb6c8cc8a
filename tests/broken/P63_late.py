"""Has another tool as soon as the list was read, and says so a moment later."""

import threading

from lines import TOOL, answer, requests, write

tools = [TOOL]
for request in requests():
    write(answer(request, tools=tools, capabilities={"tools": {"listChanged": True}}))
    if request["method"] == "tools/list":
        tools = [*tools, {**TOOL, "name": f"late_{len(tools)}"}]
        threading.Timer(0.2, write, [{"method": "notifications/tools/list_changed"}]).start()
