"""Asks in a call, and never finishes when the answer is no."""

from asking import serve

serve(lambda request, answered: None)
