"""A server of the older era whose tool asks something, for the broken ones beside it."""

import json
import sys

from calling import ECHO, answer, say
from lines import write

FORM = {"message": "Which city?", "requestedSchema": {"type": "object", "properties": {}}}
QUESTIONS = {
    "elicitation/create": FORM,
    "roots/list": {},
    "sampling/createMessage": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "hello"}}],
        "maxTokens": 5,
    },
}


def serve(take, method="elicitation/create"):
    """Ask in each call; ``take`` is given the request and the answer, and gives what finishes the call."""
    waiting = []
    for message in messages_and_answers():
        if "method" not in message:
            given = take(waiting.pop(), message)
            if given is not None:
                write(given)
        elif message["method"] == "tools/call":
            waiting.append(message)
            write({"id": f"q{message['id']}", "method": method, "params": QUESTIONS[method]})
        elif "id" in message:
            write(answer(message, tools=[ECHO]))


def messages_and_answers():

    for line in sys.stdin:
        message = json.loads(line)
        if isinstance(message, dict):
            yield message
        else:
            write({"id": None, "error": {"code": -32600, "message": "no batches"}})


def finish(request, answered):
    return say(request, str(answered.get("result", answered.get("error"))))
