"""Has a list that is longer than many readers take: legal."""

from lines import TOOL, serve

serve(tools=[{**TOOL, "name": f"tool_{n}", "description": "x" * 2000} for n in range(100)])
