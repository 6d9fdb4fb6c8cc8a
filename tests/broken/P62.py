"""Has two tools whose names differ in a character that hosts replace."""

from lines import TOOL, serve

serve(tools=[{**TOOL, "name": "get-note"}, {**TOOL, "name": "get_note"}])
