"""An older server that ends at any first message but initialize: clients can live with it."""

import sys

from lines import answer, requests, write

first = True
for request in requests():
    if first and request["method"] != "initialize":
        sys.stderr.write("ExpectedInitializeRequest\n")
        sys.exit(1)
    first = False
    write(answer(request))
