"""Dies while a request is open."""

import os
import signal

from lines import answer, requests, write

for request in requests():
    if request["method"] == "tools/list":
        os.kill(os.getpid(), signal.SIGKILL)
    write(answer(request))
