"""Does nothing else while its tool works."""

import time

from calling import serve

serve(lambda request, era: time.sleep(60))
