"""Asks in a call, and dies of a no."""

from asking import serve

serve(lambda request, answered: answered["result"]["content"])
