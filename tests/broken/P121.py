"""Speaks a draft only."""

from lines import requests, write

for request in requests():
    data = {"supported": ["DRAFT-2026-v1"], "requested": "2026-07-28"}
    write({"id": request["id"], "error": {"code": -32022, "message": "Unsupported version", "data": data}})
