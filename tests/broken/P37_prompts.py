"""Has a prompt and does not announce it."""

from lines import answer, requests, write

for request in requests():
    if request["method"] == "prompts/list":
        write({"id": request["id"], "result": {"prompts": [{"name": "review"}]}})
    else:
        write(answer(request))
