"""Has another tool as soon as the list was read, and says so."""

from lines import TOOL, answer, requests, write

tools = [TOOL]
for request in requests():
    write(answer(request, tools=tools, capabilities={"tools": {"listChanged": True}}))
    if request["method"] == "tools/list":
        tools = [*tools, {**TOOL, "name": f"late_{len(tools)}"}]
        write({"method": "notifications/tools/list_changed"})
