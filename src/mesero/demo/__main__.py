"""``python -m mesero.demo``: the notes server over stdio, or over HTTP with ``--http PORT``."""

from __future__ import annotations

import argparse

from mesero.demo.notes import notes_server
from mesero.server.stores import SqliteStore


def main() -> None:
    """Read the options and serve."""
    parser = argparse.ArgumentParser(prog="python -m mesero.demo", description=__doc__)
    parser.add_argument("--http", type=int, metavar="PORT", help="serve over HTTP on this port (0: any free one)")
    parser.add_argument("--db", default=":memory:", metavar="FILE", help="keep the notes in this SQLite file")
    options = parser.parse_args()
    server = notes_server(SqliteStore(options.db))
    if options.http is None:
        server.run()
    else:
        from mesero.server.run_http import run_http

        run_http(server, port=options.http)


if __name__ == "__main__":
    main()
