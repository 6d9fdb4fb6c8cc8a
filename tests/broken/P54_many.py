"""Has more tools than fit in a request."""

from lines import TOOL, serve

serve(tools=[{**TOOL, "name": f"tool_{number}"} for number in range(140)])
