"""Makes strings of ids."""

from lines import answer, requests, write

for request in requests():
    write({**answer(request), "id": str(request["id"])})
