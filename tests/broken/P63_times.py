"""Counts in the description of a tool how often it was read."""

from lines import TOOL, answer, requests, write

count = 0
for request in requests():
    count += request["method"] == "tools/list"
    write(answer(request, tools=[{**TOOL, "description": f"Read {count} times"}]))
