"""Has two tools whose long names differ in their middle."""

from lines import TOOL, serve

serve(
    tools=[
        {**TOOL, "name": "create_page_with_attachments_and_permissions"},
        {**TOOL, "name": "delete_page_with_attachments_and_permissions"},
    ]
)
