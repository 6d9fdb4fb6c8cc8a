"""A session without a transport: what others build on, and sessions that remember nothing."""

import asyncio

from mesero.eras import find_adapter
from mesero.jsonrpc import decode_message, encode_notification, encode_request
from mesero.server import Context, NotAuthorizedError
from tests.legacy.session_talk import EVERYTHING, HANDSHAKE_REVISIONS, ME, notes_server
from tests.server.talking import quiet_server

OLDEST, MARCH, JUNE, NOVEMBER = HANDSHAKE_REVISIONS


class Answers:
    """A reply that keeps what it gets."""

    def __init__(self):
        self.said = []
        self.is_answered = False

    async def notify(self, raw):
        self.said.append(raw)

    async def answer(self, raw, *, status=200, headers=()):
        self.is_answered = True
        self.said.append((status, headers, raw))


def session_of(server, outlet=None, **options):
    return find_adapter().ServerSession(server, outlet, **options)


async def ask(session, method, params=None, **options):
    reply = Answers()
    await session.serve(decode_message(encode_request(1, method, params or {})), reply, **options)
    return reply.said


def introduction(revision=NOVEMBER):
    return {"protocolVersion": revision, "capabilities": EVERYTHING[revision], "clientInfo": ME}


async def test_a_session_without_an_outlet_declares_no_changes():
    session = session_of(notes_server())
    ((_, _, raw),) = await ask(session, "initialize", introduction())
    assert b"listChanged" not in raw
    assert b"subscribe" not in raw
    await session.aclose()


async def test_a_session_says_how_far_it_is():
    session = session_of(notes_server())
    assert (session.revision, session.is_ready) == (None, False)
    await ask(session, "initialize", introduction(JUNE))
    assert (session.revision, session.is_ready) == (JUNE, False)
    assert session.receive(decode_message(encode_notification("notifications/initialized")))
    assert (session.revision, session.is_ready) == (JUNE, True)
    assert not session.receive(decode_message(encode_notification("notifications/initialized")))
    await session.aclose()
    assert not session.is_ready


async def test_a_stateless_session_serves_without_a_handshake():
    session = session_of(notes_server(), is_stateless=True, revision=JUNE)
    assert session.is_ready
    (first, second) = await asyncio.gather(
        ask(session, "tools/call", {"name": "who"}), ask(session, "initialize", introduction(OLDEST))
    )
    assert b'"revision":"2025-06-18"' in first[0][2]
    assert b'"2024-11-05"' in second[0][2]
    await session.aclose()


async def test_what_one_client_agrees_on_holds_for_no_other_in_a_stateless_session():
    session = session_of(notes_server(), is_stateless=True, revision=JUNE)
    await ask(session, "initialize", introduction(OLDEST))
    assert session.revision == JUNE
    ((_, _, raw),) = await ask(session, "tools/call", {"name": "who"})
    assert b'{"name":null,"revision":"2025-06-18"}' in raw


async def test_a_stateless_session_offers_what_was_registered_since():
    server = quiet_server()
    session = session_of(server, is_stateless=True)
    assert b"-32601" in (await ask(session, "tools/list"))[0][2]
    server.tool(name="late")(lambda: "here")
    assert b'"late"' in (await ask(session, "tools/list"))[0][2]


async def test_a_stateless_session_says_why_it_cannot_ask():
    server = notes_server()

    @server.tool
    async def ask_it(ctx: Context) -> str:
        return (await ctx.elicit("Sure?")).action

    session = session_of(server, is_stateless=True, revision=NOVEMBER)
    ((status, _, raw),) = await ask(session, "tools/call", {"name": "ask_it"})
    assert status == 200
    assert b"-32600" in raw
    assert b"without sessions" in raw
    await session.aclose()


async def test_who_may_not_is_told_so_with_the_status_of_the_hook():
    async def authorize(operation):
        raise NotAuthorizedError("who are you?", status=401, challenge="Bearer")

    session = session_of(notes_server(authorize=authorize), is_stateless=True)
    ((status, headers, _),) = await ask(session, "tools/list", headers=((b"x-me", b"ana"),))
    assert (status, headers) == (401, (("WWW-Authenticate", "Bearer"),))
    await session.aclose()


async def test_closing_a_session_cancels_what_runs_for_it():
    server = notes_server()
    session = session_of(server)
    await ask(session, "initialize", introduction())
    session.receive(decode_message(encode_notification("notifications/initialized")))
    running = asyncio.create_task(ask(session, "tools/call", {"name": "wait"}))
    await server.has_begun.wait()
    await session.aclose()
    await session.aclose()
    assert running.cancelled()
    assert server.ended == ["cancelled"]


async def test_an_id_is_used_once_in_a_session_on_whatever_connections():
    server = notes_server()
    session = session_of(server)
    await ask(session, "initialize", introduction())
    session.receive(decode_message(encode_notification("notifications/initialized")))
    running = asyncio.create_task(ask(session, "tools/call", {"name": "wait"}))
    await server.has_begun.wait()
    assert b"-32600" in (await ask(session, "ping"))[0][2]
    server.gate.set()
    assert b"waited" in (await running)[0][2]
    await session.aclose()


async def test_a_stateless_session_takes_any_notification():
    session = session_of(notes_server(), is_stateless=True)
    assert session.receive(decode_message(encode_notification("notifications/initialized")))


async def test_a_stateless_initialize_without_a_revision_is_refused():
    session = session_of(notes_server(), is_stateless=True)
    assert b"-32602" in (await ask(session, "initialize"))[0][2]


async def test_a_ping_tells_whether_the_client_is_there():
    out = []
    session = session_of(notes_server(), out.append)
    pinging = asyncio.create_task(session.ping(10))
    await asyncio.sleep(0)
    ping = decode_message(out[0])
    assert ping.method == "ping"
    session.receive(
        decode_message(b'{"jsonrpc":"2.0","id":%d,"error":{"code":-1,"message":"what?"}}' % ping.id)
    )
    assert await pinging is True
    assert await session.ping(0.01) is False
    await session.aclose()
    assert await session.ping(10) is False
