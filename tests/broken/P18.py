"""Has a list that is longer than many readers take: legal."""

from lines import TOOL, serve

serve(tools=[{**TOOL, "name": f"tool_{n}", "description": "x" * 1000} for n in range(200)])
