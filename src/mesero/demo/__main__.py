"""``python -m mesero.demo``: the notes server over stdio, or over HTTP with ``--http PORT``.

Notes are kept in memory, or in the file that the variable NOTES_DB names.
"""

from __future__ import annotations

import argparse

from mesero.demo.notes import server

__all__ = ["main"]


def main() -> None:
    """Read the options and serve."""
    parser = argparse.ArgumentParser(prog="python -m mesero.demo", description=__doc__)
    parser.add_argument(
        "--http", type=int, metavar="PORT", help="serve over HTTP on this port (0: any free one)"
    )
    options = parser.parse_args()
    if options.http is None:
        server.run()
    else:
        from mesero.server.run_http import run_http

        run_http(server, port=options.http)


if __name__ == "__main__":
    main()
