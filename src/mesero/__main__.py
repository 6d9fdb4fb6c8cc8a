"""``python -m mesero``: the same as ``mesero``."""

from __future__ import annotations

from mesero.cli import main

if __name__ == "__main__":
    main()
