"""Has a tool whose name is long only together with the server's."""

from lines import TOOL, serve

serve(tools=[{**TOOL, "name": "synchronize_all_customer_data"}])
