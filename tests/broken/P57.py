"""Has an outputSchema that is no object, in a revision that wants one."""

from lines import TOOL, serve

serve(tools=[{**TOOL, "outputSchema": {"type": "array"}}])
