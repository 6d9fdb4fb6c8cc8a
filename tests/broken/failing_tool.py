"""Its tool says that it failed: as tools may."""

from calling import say, serve

serve(lambda request, era: say(request, "no such city", isError=True))
