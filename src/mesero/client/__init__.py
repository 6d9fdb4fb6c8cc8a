"""The client: one connection to one server. Nothing in here imports a server.

https://modelcontextprotocol.io/specification/2026-07-28/architecture/index
"""

from mesero.client.asking import form_defaults
from mesero.client.client import Client
from mesero.client.facts import Decision, Progress, ServerFacts
from mesero.client.listening import Listening, ServerChange

__all__ = ["Client", "Decision", "Listening", "Progress", "ServerChange", "ServerFacts", "form_defaults"]
