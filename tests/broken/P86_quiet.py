"""Answers as long as it is spoken to; after a pause it is deaf, as behind a connection that somebody cut."""

import threading

from lines import answer, requests, write

pause = threading.Event()


def fall_deaf():
    pause.set()


timer = None
for request in requests():
    if timer is not None:
        timer.cancel()
    if not pause.is_set():
        write(answer(request))
        timer = threading.Timer(0.6, fall_deaf)
        timer.daemon = True
        timer.start()
