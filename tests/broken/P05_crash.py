"""Ends at once as Node does of an error that nobody catches: what comes last tells nothing."""

import sys

sys.stderr.write(
    "\x1b[31mfailed\x1b[39m\n"
    "file:///srv/cli.js:34\n"
    "        throw new Error('the folder /srv/data is locked');\n"
    "              ^\n"
    "\n"
    "Error: the folder /srv/data is locked\n"
    "    at main (/srv/cli.js:34:15)\n"
    "    at node:internal/main/run_main_module:28:49\n"
    "\n"
    "Node.js v20.20.2\n"
)
sys.exit(1)
