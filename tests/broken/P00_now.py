"""Nothing is wrong: a server of 2026-07-28."""

from calling import serve

serve(era="now")
