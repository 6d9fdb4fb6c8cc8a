"""Has a list without an end."""

from lines import answer, requests, write

for request in requests():
    message = answer(request)
    if request["method"] == "tools/list":
        message["result"]["nextCursor"] = "again"
    write(message)
