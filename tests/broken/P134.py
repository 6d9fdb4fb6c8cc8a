"""Ends because its database is down."""

import sys

sys.stderr.write("Error: connect ECONNREFUSED 127.0.0.1:5432\n")
sys.exit(1)
