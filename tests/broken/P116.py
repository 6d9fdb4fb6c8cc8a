"""Leaves the caching hints out."""

from lines import answer, requests, write

for request in requests():
    message = answer(request, era="now")
    if request["method"] == "tools/list":
        del message["result"]["ttlMs"]
    write(message)
