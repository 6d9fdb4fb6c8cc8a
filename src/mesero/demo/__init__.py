"""The demonstration: a server to copy from (`notes.py`), and a client that shows what passes on the wire (`show.py`)."""
