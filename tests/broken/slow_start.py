"""Loads for a while before it reads anything."""

import time

from calling import serve

time.sleep(1.5)
serve()
