"""Why a server process is not there: connection closed, slow start, gone after a while.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import UNSET

from mesero.audit.diagnosis import Proof, cause
from mesero.audit.evidence import short
from mesero.audit.examples import (
    answer,
    ask,
    eof,
    exited,
    fail,
    note,
    old_answer,
    old_ask,
    shake,
    spawned,
    stderr,
    tell,
    trace,
    wait,
    wrote,
)
from mesero.audit.link import Asked, LinkState
from mesero.audit.needs import NEEDS, find_undeclared

__all__: list[str] = []

_OPENINGS: Final = frozenset({"initialize", "server/discover"})
_MANY_STARTS: Final = 2
_SLOW_START_S: Final = 10.0
_INSTALLERS: Final = re.compile(
    r"(?:^|/)(?:npx|uvx|bunx|pnpm|yarn|pipx|npm|uv|docker|podman)(?:\.cmd|\.exe)?$"
)
_CONTAINERS: Final = re.compile(r"(?:^|/)(?:docker|podman)$")
_ENCODING: Final = re.compile(r"UnicodeEncodeError|'charmap' codec")
_HANDSHAKE: Final = re.compile(r"initiali[sz]e", re.IGNORECASE)
_CALL: Final = ask("tools/call", {"name": "bye"}, id=2)
_TOOL: Final = {"name": "x", "inputSchema": {"type": "object"}}
_LIST: Final = {"tools": [], "ttlMs": 0, "cacheScope": "private"}


_MAX_WORDS_CHARS: Final = 200


def _command(link: LinkState) -> tuple[str, ...]:
    return link.spawn.command if link.spawn is not None else ()


def _ending(link: LinkState) -> str:
    """How the process ended, in words."""
    if link.exit is None:
        return "closed its output"
    if link.exit.signal is not UNSET:
        return f"was ended by signal {link.exit.signal}"
    return f"exited with code {'?' if link.exit.code is UNSET else link.exit.code}"


def _is_gone(link: LinkState) -> bool:
    return link.exit is not None or "s2c" in link.closed


def _last_words(link: LinkState) -> str:
    """The last line of stderr: that of a traceback names the error. Without what is drawn around groups."""
    words = [line.strip(" |+-\t") for line in link.stderr]
    words = [line for line in words if line][-1:]
    return f"; its last words on stderr: {words[0][:_MAX_WORDS_CHARS]}" if words else ""


def _waiting(link: LinkState) -> list[Asked]:
    return [
        asked
        for (direction, _), asked in link.open.items()
        if direction == "c2s" and asked.method != "subscriptions/listen"
    ]


def _seqs(link: LinkState) -> tuple[int, ...]:
    exit_seq = link.exit.seq if link.exit is not None else 0
    spawn_seq = link.spawn.seq if link.spawn is not None else 0
    return (spawn_seq, *(asked.seq for asked in _waiting(link)[:1]), exit_seq)


def _client_closed_first(link: LinkState) -> bool:
    closed = link.closed.get("c2s")
    return closed is not None and closed <= link.closed.get("s2c", link.exit_t or closed)


# -- connection closed ---------------------------------------------------------------------------------------


@cause(
    "CLOSED-1",
    "The server's program could not be started",
    phase="launch",
    blame="client",
    fix="Put the absolute path of the program into the configuration, or its folder into PATH of env.",
    example=trace(spawned("npx", "-y", "server", pid=None), note("npx: No such file or directory")),
)
def _not_started(link: LinkState) -> Iterator[Proof]:
    if link.spawn is not None and link.spawn.pid is UNSET:
        said = f": {short(link.reports[-1][1], quoted=False)}" if link.reports else ""
        yield Proof(
            f"{short(link.spawn.command[0] if link.spawn.command else '')} could not be started{said}",
            (link.spawn.seq,),
        )


@cause(
    "CLOSED-2",
    "The container got no stdin",
    phase="launch",
    blame="client",
    fix="Add -i to `docker run`: without it the container's stdin is closed, and the server ends at once.",
    example=trace(spawned("docker", "run", "--rm", "server"), ask("server/discover"), eof(), exited(0)),
)
def _no_interactive(link: LinkState) -> Iterator[Proof]:
    command = _command(link)
    if not command or not _CONTAINERS.search(command[0]) or "run" not in command or link.answers:
        return
    options = command[command.index("run") :]
    is_open = any(
        word == "--interactive" or (word.startswith("-") and not word.startswith("--") and "i" in word)
        for word in options
    )
    if _is_gone(link) and not is_open:
        yield Proof(f"`{command[0]} run` was started without -i and {_ending(link)}", _seqs(link))


@cause(
    "CLOSED-3",
    "A server of the older era ended at the probe of the newer one",
    phase="select era",
    blame="client",
    fix=(
        "Start it again and send initialize: it is a legacy server that takes any other first "
        "message as fatal."
    ),
    example=trace(
        spawned("old-server"),
        ask("server/discover"),
        stderr("Error: ExpectedInitializeRequest"),
        eof(),
        exited(1),
    ),
)
def _died_of_probe(link: LinkState) -> Iterator[Proof]:
    probed = link.methods == ["server/discover"] and not link.answers
    if probed and _is_gone(link) and any(_HANDSHAKE.search(line) for line in link.stderr):
        yield Proof(f"server/discover was its first message, and the server {_ending(link)}", _seqs(link))


@cause(
    "CLOSED-4",
    "The server ended before it answered anything",
    phase="launch",
    blame="server",
    fix="Run the command by hand: a missing key, a wrong path or a wrong argument are the usual reasons.",
    example=trace(spawned("server"), ask("server/discover"), stderr("API_KEY is not set"), eof(), exited(1)),
)
def _died_at_start(link: LinkState) -> Iterator[Proof]:
    if link.answers or not link.methods or not _is_gone(link) or _client_closed_first(link):
        return
    after = (link.exit_t or link.closed.get("s2c", link.last_t)) - link.spawn_t
    text = f"the server {_ending(link)} after {after:.1f} s, before it answered anything{_last_words(link)}"
    yield Proof(text, _seqs(link))


@cause(
    "CLOSED-5",
    "The server died while writing text that its output cannot hold",
    phase="operation",
    blame="server",
    fix="Set PYTHONUTF8=1 in env, or set the encoding of stdout to UTF-8 in the server.",
    example=trace(
        *[spawned("server"), ask("tools/list"), answer(_LIST), _CALL],
        *[stderr("UnicodeEncodeError: 'charmap' codec can't encode character"), eof(), exited(1)],
    ),
)
def _died_of_encoding(link: LinkState) -> Iterator[Proof]:
    words = [line for line in link.stderr if _ENCODING.search(line)]
    if _waiting(link) and _is_gone(link) and words:
        yield Proof(f"the server {_ending(link)}: {short(words[-1], quoted=False)}", _seqs(link))


@cause(
    "CLOSED-6",
    "The client stopped reading at a long line",
    phase="operation",
    blame="client",
    confidence="likely",
    fix="Raise the client's limit of 64 KiB for a line: longer messages are legal.",
    example=trace(
        *shake(),
        old_ask("tools/list"),
        old_answer({"tools": [], "_meta": {"padding": "x" * 70_000}}),
        eof("c2s"),
    ),
)
def _long_line(link: LinkState) -> Iterator[Proof]:
    if link.last_long_line and "c2s" in link.closed and not _waiting(link):
        text = (
            "the last message before the client closed was longer than 65,536 bytes, where many readers stop"
        )
        yield Proof(text, (link.last_long_line,))


@cause(
    "CLOSED-9",
    "The server died of a cancellation",
    phase="operation",
    blame="server",
    confidence="likely",
    fix="Update the server and its SDK; until then give calls more time, so that none is cancelled.",
    example=trace(
        *[spawned("server"), *shake(), old_ask("tools/call", {"name": "slow"})],
        *[tell("notifications/cancelled", {"requestId": 1}, "c2s"), old_ask("ping", id=2), eof(), exited(1)],
    ),
)
def _died_of_cancelling(link: LinkState) -> Iterator[Proof]:
    waiting = [asked for asked in _waiting(link) if asked.cancelled_t is None]
    given_up = link.given_up[-1] if link.given_up else None
    if given_up is None or given_up.cancelled_t is None or not _is_gone(link) or _client_closed_first(link):
        return
    is_last = link.last_answer_seq < given_up.seq and all(one.t >= given_up.cancelled_t for one in waiting)
    if waiting and is_last and not (link.exit is not None and link.exit.code == 0):
        what = f"`{short(given_up.method, quoted=False)}` {short(given_up.name)} (id {short(given_up.id)})"
        yield Proof(
            f"the server {_ending(link)} at the first message after {what} was cancelled{_last_words(link)}",
            (given_up.seq, waiting[0].seq, _seqs(link)[-1]),
        )


@cause(
    "CLOSED-7",
    "The server died while a request was open",
    phase="operation",
    blame="server",
    fix="Look at the server's log for that time; the client may start it again and repeat the request.",
    example=trace(
        *[spawned("server"), ask("tools/list"), answer(_LIST), _CALL],
        *[eof(), exited(None, signal=9)],
    ),
)
def _died_at_work(link: LinkState) -> Iterator[Proof]:
    waiting = [asked for asked in _waiting(link) if asked.cancelled_t is None]
    if waiting and link.answers and _is_gone(link) and not _client_closed_first(link):
        one = waiting[0]
        what = f"`{short(one.method, quoted=False)}` {short(one.name)} (id {short(one.id)})"
        yield Proof(f"the server {_ending(link)} while {what} was open{_last_words(link)}", _seqs(link))


@cause(
    "CLOSED-10",
    "The client took the refusal of an optional method for the end",
    phase="initialize",
    blame="client",
    confidence="likely",
    fix="Call only what the capabilities announce, and go on after -32601: only the method is missing.",
    example=trace(*shake(), old_ask("logging/setLevel", {"level": "info"}), fail(-32601), eof("c2s")),
)
def _took_it_for_the_end(link: LinkState) -> Iterator[Proof]:
    last = link.failures[-1] if link.failures else None
    if last is None or last.code != -32601 or "c2s" not in link.closed or not _client_closed_first(link):
        return
    needed = find_undeclared(link, last.asked.method, last.asked.revision)
    is_last = link.last_answered is last.asked and link.last_sent_seq == last.asked.seq
    # What the server does announce was never asked for.
    unused = [each for each in link.server_capabilities or () if f"{each}/list" in NEEDS]
    if needed and is_last and unused and not any(f"{each}/list" in link.listings for each in unused):
        text = (
            f"`{short(last.asked.method, quoted=False)}` needs {needed}, which the server never announced; "
            f"after its -32601 the client closed, without a look at the {' and '.join(unused)}"
        )
        yield Proof(text, (last.asked.seq, last.seq))


@cause(
    "CLOSED-8",
    "The client closed the connection with a request open",
    phase="shutdown",
    blame="client",
    fix="Wait for the answers, or cancel the requests, before closing the server's stdin.",
    example=trace(spawned("server"), ask("tools/list"), answer(_LIST), _CALL, eof("c2s"), eof(), exited(0)),
)
def _closed_by_client(link: LinkState) -> Iterator[Proof]:
    # What was asked before the last answer came is nothing that the client still waited for.
    last = link.last_answered.seq if link.last_answered is not None else 0
    waiting = [asked for asked in _waiting(link) if asked.cancelled_t is None and asked.seq > last]
    if waiting and _client_closed_first(link):
        text = (
            f"the client closed the server's stdin while `{short(waiting[0].method, quoted=False)}` was open"
        )
        yield Proof(text, (waiting[0].seq,))


# -- start ---------------------------------------------------------------------------------------------------


def _first_of(link: LinkState) -> Asked | None:
    """The first request to a server that was just started; over HTTP it was there before the client."""
    first = link.first_asked
    if first is None or first.exchange is not None:
        return None
    return first if link.spawn is not None or first.method in _OPENINGS else None


def _start_of(link: LinkState) -> tuple[Asked, float, bool] | None:
    """The first request, how long it waited, and whether it was answered; None where nothing was slow."""
    first = _first_of(link)
    if first is None or (_is_gone(link) and link.answers == 0 and not link.given_up):
        return None
    end = link.first_answer_t if link.first_answer_t is not None else link.last_t
    waited = end - first.t
    return (first, waited, link.first_answer_t is not None) if waited >= _SLOW_START_S else None


@cause(
    "START-1",
    "The server speaks another framing",
    phase="launch",
    blame="server",
    fix="Write one JSON message a line. Content-Length headers belong to the Language Server Protocol.",
    example=trace(
        spawned("server"), ask("server/discover"), wrote("Content-Length: 52"), wait(30), eof("c2s")
    ),
)
def _framing(link: LinkState) -> Iterator[Proof]:
    if "FRAME-002" in link.found and not link.answers:
        yield Proof(link.found["FRAME-002"][1], (link.found["FRAME-002"][0],))


@cause(
    "START-2",
    "The package manager was still installing",
    phase="launch",
    blame="client",
    confidence="likely",
    fix=(
        "Run the command once by hand, or install the program and start it directly; or raise "
        "the start limit."
    ),
    example=trace(
        spawned("npx", "-y", "server"),
        old_ask("initialize", {}, id=0),
        wait(30),
        eof("c2s"),
        exited(None, signal=15),
    ),
)
def _installing(link: LinkState) -> Iterator[Proof]:
    start = _slow_or_killed(link)
    command = _command(link)
    if start is not None and command and _INSTALLERS.search(command[0]):
        first, waited, is_answered = start
        state = (
            f"the first answer took {waited:.0f} s" if is_answered else f"no answer came in {waited:.0f} s"
        )
        text = f"{state}; {command[0]} downloads and installs before the server starts"
        earlier = sum(not run.answers for run in link.runs)
        if earlier >= _MANY_STARTS:
            # What was installed so far is thrown away each time, so waiting for the next start is no help.
            fix = "Install the program once outside of the host, and start the installed program directly."
            yield Proof(f"{text}; {earlier} starts before ended the same way", (first.seq,), fix)
        yield Proof(text, (first.seq,))


def _slow_or_killed(link: LinkState) -> tuple[Asked, float, bool] | None:
    """As `_start_of`, and also when the client closed first while it waited."""
    first = _first_of(link)
    if first is not None and not link.answers and _client_closed_first(link):
        waited = link.closed["c2s"] - first.t
        return (first, waited, False) if waited >= 1.0 else None
    return _start_of(link)


@cause(
    "START-3",
    "The server does much before it answers",
    phase="launch",
    blame="server",
    fix="Answer the first request at once and load models and data in the background.",
    example=trace(spawned("server"), ask("tools/list"), wait(25), answer(_LIST | {"tools": [_TOOL]})),
)
def _slow(link: LinkState) -> Iterator[Proof]:
    start = _slow_or_killed(link)
    if start is not None and start[2]:
        yield Proof(f"the server took {start[1]:.0f} s to answer `{start[0].method}`", (start[0].seq,))


@cause(
    "START-4",
    "The server is there and does not answer",
    phase="launch",
    blame="server",
    confidence="likely",
    fix="Check that it reads stdin line by line and flushes stdout after each message.",
    example=trace(spawned("server"), ask("server/discover"), wait(30), eof("c2s"), exited(None, signal=15)),
)
def _mute(link: LinkState) -> Iterator[Proof]:
    start = _slow_or_killed(link)
    if start is not None and not start[2]:
        yield Proof(
            f"no answer to `{short(start[0].method, quoted=False)}` in {start[1]:.0f} s", (start[0].seq,)
        )


# -- disconnected after a while ------------------------------------------------------------------------------


@cause(
    "DROPPED-1",
    "Keep-alive: the server does not answer `ping`",
    phase="operation",
    blame="server",
    fix="Answer ping with {}: clients end connections whose ping fails.",
    example=trace(*shake(), old_ask("ping", id=5), fail(-32601, id=5), eof("c2s")),
)
def _ping(link: LinkState) -> Iterator[Proof]:
    if "LIFE-011" in link.found and ("c2s" in link.closed or link.exit is not None):
        yield Proof(
            "ping was answered with an error, and the connection was ended", (link.found["LIFE-011"][0],)
        )


@cause(
    "DROPPED-2",
    "The client does not answer the server's `ping`",
    phase="operation",
    blame="client",
    fix="Answer ping with {}, also while a call is open.",
    example=trace(*shake(), old_ask("ping", id="s1", direction="s2c"), wait(30), eof(), exited(0)),
)
def _unanswered_ping(link: LinkState) -> Iterator[Proof]:
    for (direction, _), asked in link.open.items():
        if direction == "s2c" and asked.method == "ping" and _is_gone(link):
            yield Proof(f"the server asked ping and had no answer; then it {_ending(link)}", (asked.seq,))


@cause(
    "DROPPED-3",
    "The server ended by itself while nothing was open",
    phase="operation",
    blame="server",
    fix="Look at its last words on stderr: an error that nobody caught, or a limit of its own on idle time.",
    example=trace(
        spawned("server"), ask("tools/list"), answer(_LIST), wait(60), stderr("Killed"), eof(), exited(137)
    ),
)
def _ended(link: LinkState) -> Iterator[Proof]:
    if not link.answers or _waiting(link) or not _is_gone(link) or _client_closed_first(link):
        return
    failed = link.exit is None or link.exit.signal is not UNSET or link.exit.code not in (0, UNSET)
    if failed or "s2c" in link.closed:
        yield Proof(f"the server {_ending(link)} although nothing was open{_last_words(link)}", _seqs(link))
