"""A bridge that signs in: the port that the browser comes back to is taken, by an earlier start of it."""

import http.server
import sys

try:
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), http.server.BaseHTTPRequestHandler)
except OSError:
    sys.stderr.write(f"Error: listen EADDRINUSE: address already in use 127.0.0.1:{sys.argv[1]}\n")
    sys.exit(1)
