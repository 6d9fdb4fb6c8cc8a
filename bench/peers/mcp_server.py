"""The official SDK's server: stdio without an argument, else HTTP: `[tuned] PORT`.

Untuned is what `run("streamable-http")` gives after a plain install (uvicorn on asyncio and h11); tuned is
stateless with JSON answers on uvicorn with httptools and uvloop. No per-request log lines either way.
"""

import sys

from mcp.server import MCPServer

server = MCPServer("bench", log_level="WARNING")


@server.tool()
async def add(a: int, b: int) -> int:
    return a + b


if len(sys.argv) == 1:
    server.run()
else:
    import uvicorn

    is_tuned = sys.argv[1] == "tuned"
    app = server.streamable_http_app(stateless_http=is_tuned, json_response=is_tuned)
    loop, http = ("uvloop", "httptools") if is_tuned else ("asyncio", "h11")
    uvicorn.run(app, port=int(sys.argv[-1]), log_level="warning", access_log=False, loop=loop, http=http)
