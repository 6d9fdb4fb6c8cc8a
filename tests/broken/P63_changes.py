"""Has another tool as soon as the list was read, and tells nobody."""

from lines import TOOL, answer, requests, write

tools = [TOOL]
for request in requests():
    write(answer(request, tools=tools))
    if request["method"] == "tools/list":
        tools = [*tools, {**TOOL, "name": f"late_{len(tools)}"}]
