"""Has spaces in the name of a tool."""

from lines import TOOL, serve

serve(tools=[{**TOOL, "name": "Create CIFS Share"}])
