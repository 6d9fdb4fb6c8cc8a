"""Greets on stdout."""

from lines import serve

print("Server running on stdio", flush=True)
serve()
