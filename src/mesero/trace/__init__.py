"""Recordings of MCP traffic: what a line of one looks like, who writes them, who reads them.

``format`` says what a recording is; ``redaction`` keeps secrets out of it; ``recorder`` writes one while
messages pass; ``reader`` reads one line by line; ``importers`` make lines of what other programs wrote down;
``diff`` compares two. Nothing here judges a message: that is the audit's work.
"""
