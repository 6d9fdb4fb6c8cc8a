"""Takes a lock that it gives back only when nobody waits for it."""

import threading
import time

from calling import echo, serve
from lines import write

waiting = []


def work(request, era):
    waiting.append(request)
    time.sleep(0.2)
    while len(waiting) > 1:
        time.sleep(0.05)
    waiting.remove(request)
    write(echo(request, era))


def call(request, era):
    threading.Thread(target=work, args=(request, era), daemon=True).start()


serve(call)
