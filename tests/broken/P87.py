"""Its tool takes for ever, and everything else is quick."""

from calling import serve

serve(lambda request, era: None)
