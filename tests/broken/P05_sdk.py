"""Ends at once: it was written for another major version of its SDK."""


class Server:
    """What the newer SDK has under the same name."""


Server().list_resources()  # type: ignore[attr-defined]
