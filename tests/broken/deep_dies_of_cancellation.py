"""Looks for the request that is cancelled, and dies when there is none."""

from calling import serve

requests = {}
serve(
    special=lambda message: (
        message["method"] == "notifications/cancelled" and requests[message["params"]["requestId"]]
    )
)
