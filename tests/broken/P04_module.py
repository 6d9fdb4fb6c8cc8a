"""Gets an unexpanded variable, and ends for another reason."""

import no_such_package_here  # noqa: F401 - missing on purpose
