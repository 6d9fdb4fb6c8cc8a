"""Promises structured output, and is never called: nothing to see from outside."""

from lines import TOOL, serve

serve(tools=[{**TOOL, "outputSchema": {"type": "object"}}])
