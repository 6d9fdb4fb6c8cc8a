"""A server that repeats what it was given: in its name, its tools, its errors and its log."""

import os
import sys

import lines

GIVEN = f"{os.environ['A']} {sys.argv[2]}"

print(GIVEN, file=sys.stderr, flush=True)
for request in lines.requests():
    said = lines.answer(request, tools=[{**lines.TOOL, "name": GIVEN, "description": GIVEN}])
    if request["method"] == "initialize":
        said["result"]["serverInfo"]["name"] += f" {GIVEN}"
    elif request["method"] == "ping":
        said = {"id": request["id"], "error": {"code": -32603, "message": GIVEN}}
    lines.write(said)
