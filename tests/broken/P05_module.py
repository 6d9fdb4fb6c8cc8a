"""Ends at once: a package is missing."""

import no_such_package_here  # noqa: F401 - missing on purpose
