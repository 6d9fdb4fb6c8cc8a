"""Answers initialize with a revision that has none."""

from lines import NOW, answer, requests, write

for request in requests():
    message = answer(request)
    if request["method"] == "initialize":
        message["result"]["protocolVersion"] = NOW
    write(message)
