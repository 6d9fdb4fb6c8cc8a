"""Its tool takes long, and says how far it is."""

import itertools
import threading
import time

from calling import serve
from lines import write


def report(token):
    for number in itertools.count(1):
        params = {"progressToken": token, "progress": number}
        write({"method": "notifications/progress", "params": params})
        time.sleep(0.2)


def call(request, era):
    token = request["params"]["_meta"]["progressToken"]
    threading.Thread(target=report, args=(token,), daemon=True).start()


serve(call)
