"""mesero's server: stdio without an argument, else its HTTP app on uvicorn, httptools and uvloop: `PORT`."""

import sys

import mesero

server = mesero.Server("bench", version="1")


@server.tool
async def add(a: int, b: int) -> int:
    return a + b


if len(sys.argv) == 1:
    server.run()
else:
    import uvicorn

    app = server.asgi(path="/mcp")
    uvicorn.run(
        app, port=int(sys.argv[1]), log_level="warning", access_log=False, loop="uvloop", http="httptools"
    )
