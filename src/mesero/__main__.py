"""``python -m mesero``, and the command ``mesero``."""

from __future__ import annotations

import sys

__all__ = ["main"]

_INTERRUPTED = 130


def main() -> None:
    """Run the command line of this process, and exit.

    A command answers for an interrupt itself; here is who answers while its modules are still being loaded.
    """
    try:
        from mesero.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(_INTERRUPTED)


if __name__ == "__main__":
    main()
