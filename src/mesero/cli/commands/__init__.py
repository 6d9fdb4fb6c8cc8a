"""One module a command: ``command`` is what runs, ``EXAMPLES`` what its help shows.

They are loaded by name in `mesero.cli`, and import nothing of each other.
"""
