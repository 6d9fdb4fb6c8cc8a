"""One message, or one word of the protocol, explained. Pure: no file, no clock, no network.

`message` explains a message: its kind, its era and why, its fields, the checks it meets and where it stops
(`steps` for stateless requests, `handshake` for those of a session), how long a result may be reused
(`reuse`). `glossary` explains methods, codes, statuses, headers and ``_meta`` keys. `text` makes lines of it.
"""

from mesero.explain.glossary import Entry, find_entries, near_names
from mesero.explain.message import Explanation, explain_message
from mesero.explain.text import entry_text, explanation_text

__all__ = [
    "Entry",
    "Explanation",
    "entry_text",
    "explain_message",
    "explanation_text",
    "find_entries",
    "near_names",
]
