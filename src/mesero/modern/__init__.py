"""The stateless core: revision 2026-07-28. Pure: bytes and Structs in, bytes and Structs out.

Every request describes itself; nothing here remembers one when the next arrives.
"""

REVISIONS = ("2026-07-28",)
"""The revisions that this package speaks, newest first."""

__all__ = ["REVISIONS"]
