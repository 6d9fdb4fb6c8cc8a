"""Ends as a package manager does that does not find a package."""

import sys

sys.stderr.write("npm error code E404\nnpm error 404 Not Found - GET https://packages.example/nothing\n")
sys.exit(1)
