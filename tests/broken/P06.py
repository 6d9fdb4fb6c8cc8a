"""Ends with a word that fits no pattern: the report must hold everything."""

import sys

sys.stderr.write("first words\nthe flux capacitor is cold\n")
sys.exit(42)
