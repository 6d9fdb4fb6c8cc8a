"""What each outcome of the two first messages is evidence of."""

from mesero import Client
from tests.transports.raw_http import END, STREAM, full, result_for, serve_raw

HANDSHAKE = {
    "protocolVersion": "2025-03-26",
    "capabilities": {},
    "serverInfo": {"name": "older", "version": "1"},
}


async def test_a_stream_that_ends_without_an_answer_to_the_probe_is_no_outage():
    async def script(request, connection):
        method = request.json["method"] if request.body else None
        if method == "server/discover":
            await connection.write(STREAM + END)
        elif method == "initialize":
            await connection.write(full({**result_for(request.id), "result": HANDSHAKE}))
        else:
            await connection.write(full(b"", "405 Method Not Allowed" if method is None else "202 Accepted"))

    async with serve_raw(script) as raw, Client(raw.url, remember=False) as client:
        assert client.server.revision == "2025-03-26"
        assert client.server.verdict.startswith("the probe was answered HTTP 200")
