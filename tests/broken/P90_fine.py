"""Asks in a call, and takes a no."""

import sys

from asking import finish, serve

serve(finish, sys.argv[1])
