"""Leaves the program of its call behind."""

import subprocess
import threading

from calling import echo, serve
from lines import write


def work(request, era, program):
    program.wait()
    write(echo(request, era))


def call(request, era):
    program = subprocess.Popen(["sleep", "1"], stdin=subprocess.DEVNULL, start_new_session=True)
    threading.Thread(target=work, args=(request, era, program), daemon=True).start()


serve(call)
