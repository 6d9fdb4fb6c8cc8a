"""Nothing is wrong: a server of the older era."""

from calling import serve

serve()
