"""mesero's server: stdio without an argument, else HTTP (uvicorn with httptools and uvloop): `PORT`."""

import sys

import mesero

server = mesero.Server("bench", version="1")


@server.tool
async def add(a: int, b: int) -> int:
    return a + b


if len(sys.argv) == 1:
    server.run()
else:
    server.run_http(port=int(sys.argv[1]))
