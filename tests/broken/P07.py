"""Installs for long before it reads: its child is a package manager."""

import subprocess
import sys

subprocess.run([sys.argv[1], "60"], check=False)
