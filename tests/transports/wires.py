"""A transport over memory whose server's end is a list and a function: for tests of every byte."""

import json

from mesero.jsonrpc import encode_request
from mesero.transports import Outgoing
from mesero.transports.memory import MemoryTransport


class Peer:
    """The server's end: keeps what came, and writes what a test wants."""

    def __init__(self, send, hang_up):
        self.send = send
        self.hang_up = hang_up
        self.received = b""
        self.is_closed = False

    def receive_bytes(self, data):
        self.received += data

    async def aclose(self):
        self.is_closed = True

    @property
    def messages(self):
        return [json.loads(line) for line in self.received.splitlines()]

    def write(self, message):
        self.send(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def answer(self, request_id, **result):
        self.write({"id": request_id, "result": {"resultType": "complete", **result}})


class Wire:
    """A transport, and the server's ends that it has opened."""

    def __init__(self, **settings):
        self.peers = []
        self.transport = MemoryTransport(self._connect, **settings)

    def _connect(self, send, hang_up):
        self.peers.append(Peer(send, hang_up))
        return self.peers[-1]

    @property
    def peer(self):
        return self.peers[-1]

    def ask(self, request_id, method="any", **params):
        return self.transport.exchange(
            Outgoing(request_id, method, encode_request(request_id, method, params))
        )
