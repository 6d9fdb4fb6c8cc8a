"""Goes on when its input has ended."""

import time

from lines import serve

serve()
time.sleep(60)
