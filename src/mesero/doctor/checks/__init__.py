"""The checks, a file for each layer. They say on the sheet what they saw, and raise for nothing."""
