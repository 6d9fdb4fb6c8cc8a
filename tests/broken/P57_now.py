"""Has an outputSchema that is no object, in a revision that allows it."""

from lines import TOOL, serve

serve(era="now", tools=[{**TOOL, "outputSchema": {"type": "array"}}])
