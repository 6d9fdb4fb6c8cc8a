"""One tool of three is malformed."""

from lines import TOOL, serve

serve(tools=[TOOL, {"name": "bare"}, {**TOOL, "name": "third"}])
