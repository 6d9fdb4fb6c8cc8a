"""Keeps each id for a while, and dies of the second one."""

import sys

from calling import serve

ids = []


def special(message):
    if "id" in message:
        if message["id"] in ids:
            sys.exit("this id was there already")
        ids.append(message["id"])


serve(special=special)
