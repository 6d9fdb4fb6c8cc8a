"""Promises structured output, and gives text only."""

from calling import ECHO, serve

serve(tools=[{**ECHO, "outputSchema": {"type": "object"}}])
