"""Has a tool with a dot in its name, as the specification allows."""

from lines import TOOL, serve

serve(tools=[{**TOOL, "name": "notes.add"}])
