"""Has a tool and does not announce it."""

from lines import serve

serve(capabilities={})
