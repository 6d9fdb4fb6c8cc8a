"""Nothing is wrong: a server of the older era."""

from lines import serve

serve()
