"""Gives structured output of another shape than it promised."""

from calling import ECHO, say, serve

OUTPUT = {"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]}


def call(request, era):
    return say(request, '{"sum": "3"}', structuredContent={"sum": "3"})


serve(call, tools=[{**ECHO, "outputSchema": OUTPUT}])
