"""Speaks 2026-07-28 only, and says so."""

from lines import NOW, answer, requests, write

for request in requests():
    if request["method"] == "initialize":
        data = {"supported": [NOW], "requested": request["params"]["protocolVersion"]}
        error = {"code": -32022, "message": "Unsupported protocol version", "data": data}
        write({"id": request["id"], "error": error})
    else:
        write(answer(request, era="now"))
