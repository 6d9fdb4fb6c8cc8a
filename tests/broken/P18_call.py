"""Answers a call with a long line: legal."""

from calling import say, serve

serve(lambda request, era: say(request, "x" * 200_000))
