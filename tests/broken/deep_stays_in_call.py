"""Finishes its call before it looks whether anybody is still there, and lets nobody end it."""

import signal
import threading
import time

from calling import echo, serve
from lines import write

signal.signal(signal.SIGTERM, signal.SIG_IGN)
open_calls = []


def work(request, era):
    time.sleep(0.3)
    write(echo(request, era))
    open_calls.remove(request)


def call(request, era):
    open_calls.append(request)
    threading.Thread(target=work, args=(request, era), daemon=True).start()


serve(call)
while open_calls:
    time.sleep(60)
