"""Lists its tools in another order each time."""

from lines import TOOL, answer, requests, write

tools = [{**TOOL, "name": name} for name in ("add", "divide", "subtract")]
for request in requests():
    write(answer(request, tools=tools))
    if request["method"] == "tools/list":
        tools.append(tools.pop(0))
