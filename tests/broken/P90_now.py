"""Asks again and again, whatever it is told."""

from calling import serve

QUESTION = {
    "method": "elicitation/create",
    "params": {"mode": "form", "message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}},
}


def call(request, era):
    result = {"resultType": "input_required", "inputRequests": {"q": QUESTION}, "requestState": "s"}
    return {"id": request["id"], "result": result}


serve(call, era="now")
