"""Has a tool with a long name."""

from lines import TOOL, serve

serve(tools=[{**TOOL, "name": "synchronize_" + "database_" * 8}])
