"""Its tool runs a program that reads the server's stdin."""

import subprocess

from calling import say, serve


def call(request, era):
    return say(request, subprocess.run(["cat"], stdout=subprocess.PIPE, text=True, check=False).stdout)


serve(call)
