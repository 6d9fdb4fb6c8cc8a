"""The demonstration: a server to copy from (`notes.py`), and a client that shows the wire (`show.py`)."""
