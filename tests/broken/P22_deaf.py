"""Runs, and reads nothing."""

import time

time.sleep(60)
