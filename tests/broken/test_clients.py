"""Each broken client: its recording names the right cause first, and no wrong one."""

import pytest

from mesero.audit import audit
from mesero.audit.diagnosis import diagnose
from mesero.trace.reader import TraceReader, open_file
from tests.broken.clients import healthy, newer, pipes, servers, signing_in, sockets, starting, waiting
from tests.broken.endpoints import honest, serving
from tests.http_serving import serving as serving_app

# Name, client, the kind of its peer, the causes, the rules; all of both must be as they are here.
STDIO = [
    ("P38", starting.ignores_the_tools, "completes", ["TOOLS-3"], set()),
    ("P41", starting.takes_a_refusal_as_the_end, "serve", ["CLOSED-10"], {"CAP-001"}),
    ("P43 too early", starting.lists_too_early, "opaque", ["PARAMS-1"], {"LIFE-002"}),
    ("P43 unknown tool", starting.calls_an_unknown_tool, "opaque", ["PARAMS-3"], set()),
    ("P43 wrong arguments", starting.calls_with_wrong_arguments, "opaque", ["PARAMS-4"], set()),
    ("P43 lost session", starting.goes_on_with_a_lost_session, "forgetful", ["PARAMS-7"], set()),
    (
        "P46 2024-11-05",
        starting.sends_a_batch("2024-11-05"),
        "unbatched",
        ["SILENT-13"],
        {"ENV-009", "ID-009"},
    ),
    ("P46 2025-03-26", starting.sends_a_batch("2025-03-26"), "batched", [], set()),
    (
        "P46 2025-06-18",
        starting.sends_a_batch("2025-06-18"),
        "unbatched",
        ["SILENT-13"],
        {"ENV-009", "ID-009"},
    ),
    ("P46 2025-11-25", starting.sends_a_batch("2025-11-25"), "unbatched", ["SILENT-13"], {"ENV-009"}),
    ("P46 2026-07-28", starting.sends_a_modern_batch, "unbatched", ["SILENT-13"], {"ENV-009"}),
    ("P46 silent", starting.waits_for_a_batch, "silent_at_arrays", ["SILENT-13"], {"ENV-009"}),
    ("P52", waiting.reads_one_page, "paged", [], {"LIST-001"}),
    ("P63", waiting.keeps_the_old_list, "grows", [], {"LIST-009"}),
    ("P87", waiting.gives_up(progress=True), "still", ["TIMEOUT-2"], set()),
    ("P88 no token", waiting.gives_up(progress=False), "slow", ["TIMEOUT-2"], set()),
    ("P88 progress", waiting.gives_up(progress=True), "slow", ["TIMEOUT-1"], set()),
    ("P90", waiting.asks_nobody_while_it_waits, "asks", ["SILENT-6"], set()),
    ("P114", starting.skips_the_question_of_the_era, "lenient", ["VERSION-7"], {"RES-001"}),
    ("P123", starting.pings_in_the_newer_era, "now", [], {"ERA-006"}),
    ("P124", waiting.never_comes_back, "now", ["SILENT-7"], {"MRTR-010"}),
    ("P125", starting.leaves_an_upward_server, "serve", ["VERSION-6"], {"LIFE-013"}),
    ("P18", starting.cannot_read_long_lines, "long", ["CLOSED-6"], set()),
    ("P33", starting.leaves_an_older_server, "serve", ["VERSION-4"], set()),
    ("P40", starting.does_not_answer_ping, "pings", ["DROPPED-2"], set()),
    ("P52 empty page", starting.stops_at_an_empty_page, "empty_first", ["TOOLS-4"], {"LIST-001"}),
    ("P110", starting.knows_only_the_handshake, "only_now", ["VERSION-1"], set()),
    ("P111", starting.probes_only, "dies_of_the_probe", ["CLOSED-3"], {"RES-011"}),
    ("no tools", healthy.speaks_the_older_era, "toolless", ["TOOLS-5"], set()),
    ("P112", starting.does_not_fall_back, "serve", ["VERSION-3"], set()),
    ("leaves early", waiting.leaves_in_the_middle, "still", ["CLOSED-8"], set()),
    ("dies of cancelling", waiting.goes_on_after_a_cancellation, "brittle", ["CLOSED-9"], {"RES-011"}),
    ("older era", healthy.speaks_the_older_era, "serve", [], set()),
    ("newer era", healthy.speaks_the_newer_era, "now", [], set()),
    ("asked back", healthy.answers_while_it_waits, "asks", [], set()),
]

# Name, client, what makes the server, the causes, the rules.
HTTP = [
    ("P35", starting.sends_its_own_revision, lambda: servers.checks_the_revision, ["S400-5"], {"HDR-014"}),
    ("P68", starting.accepts_too_little, lambda: servers.wants_both_kinds, ["S406-1"], {"HDR-011"}),
    ("P74", starting.does_not_start_again, lambda: servers.Sessions(forgets=1), ["S404-2"], {"SESS-003"}),
    ("P78", starting.never_closes_a_session, servers.Sessions, [], {"SESS-011"}),
    ("P85 no id", waiting.loses_the_stream, servers.Sessions, ["SILENT-9"], set()),
    ("P85 id", waiting.loses_the_stream, lambda: servers.Sessions(event_id="e1"), ["SILENT-14"], set()),
    ("P85 twice", waiting.resumes_once, lambda: servers.Sessions(event_id="e1"), ["SILENT-14"], set()),
    ("P86", starting.gives_up_after_one_failure, lambda: servers.Sessions(breaks=2), ["DROPPED-4"], set()),
    ("P91", waiting.listens_nowhere, lambda: servers.Sessions(holds=True), ["SILENT-15", "TIMEOUT-2"], set()),
    ("P100 browser", signing_in.keeps_a_forgotten_registration, servers.Authorization, ["SIGNIN-1"], set()),
    (
        "P100 token",
        signing_in.redeems_with_a_forgotten_registration,
        servers.Authorization,
        ["SIGNIN-1"],
        {"DEP-006"},
    ),
    (
        "P102 expired",
        signing_in.sends_an_expired_token,
        servers.Authorization,
        ["S401-2"],
        {"AUTH-010", "DEP-006"},
    ),
    ("P102 twice", signing_in.refreshes_twice, servers.Authorization, ["SIGNIN-2"], {"DEP-006"}),
    (
        "P103 unknown",
        signing_in.asks_for_an_unknown_scope,
        servers.Authorization,
        ["SIGNIN-4"],
        {"AUTH-014", "DEP-006"},
    ),
    (
        "P103 too weak",
        signing_in.asks_for_too_little,
        servers.Authorization,
        ["SIGNIN-5"],
        {"AUTH-014", "DEP-006"},
    ),
    ("P79", starting.forgets_its_session, servers.Sessions, ["S400-6"], {"SESS-002"}),
    ("P112 HTTP", starting.takes_400_for_the_end, servers.Sessions, ["S400-4"], set()),
    (
        "P118 unchecked",
        newer.is_rewritten_on_its_way,
        lambda: servers.believes_the_body,
        [],
        {"HDR-006", "HDR-010"},
    ),
    ("P125 HTTP", starting.leaves_an_upward_url, lambda: honest, ["VERSION-6"], {"LIFE-013"}),
    ("starts again", healthy.starts_again, lambda: servers.Sessions(forgets=1), [], set()),
    ("resumes", healthy.resumes, lambda: servers.Sessions(event_id="e1"), [], set()),
    ("tries again", healthy.tries_again, lambda: servers.Sessions(breaks=2), [], set()),
    ("signs in", signing_in.signs_in, servers.Authorization, [], {"DEP-006"}),
    ("registers again", signing_in.registers_again, servers.Authorization, [], {"DEP-006"}),
    ("steps up", signing_in.steps_up, lambda: servers.Authorization("files:list"), [], {"DEP-006"}),
]

# The same in front of our own server, which is of the newer era.
NEWER = [
    ("P117", newer.mirrors_nothing, ["S400-1"], {"HDR-003", "HDR-005"}),
    ("P118", newer.is_rewritten_on_its_way, ["S400-2"], {"HDR-006"}),
    ("P120", newer.keeps_its_session, [], {"SESS-005"}),
    ("P123 ping", newer.pings, ["S404-3"], {"ERA-006"}),
    ("P123 GET", newer.listens_with_get, [], {"HTTP-006"}),
    ("P135", newer.declares_once, ["S400-3"], set()),
    ("no metadata", newer.leaves_its_metadata_out, ["PARAMS-2"], {"META-001"}),
    ("stale cursor", newer.turns_a_page_of_long_ago, ["PARAMS-6"], set()),
    ("declares each time", healthy.declares_each_time, [], set()),
]


def judged(path):
    with TraceReader(open_file(path)) as trace:
        lines = list(trace)
    return [each.code for each in diagnose(lines)], {each.rule for each in audit(lines)}


def cases(table):
    return [pytest.param(*case[1:], id=case[0]) for case in table]


@pytest.mark.parametrize(("client", "kind", "causes", "rules"), cases(STDIO))
async def test_a_client_over_stdio_is_seen_through(client, kind, causes, rules, tmp_path):
    await pipes.record(client, kind, tmp_path / "trace.jsonl")

    assert judged(tmp_path / "trace.jsonl") == (causes, rules)


@pytest.mark.parametrize(("client", "make", "causes", "rules"), cases(HTTP))
async def test_a_client_over_http_is_seen_through(client, make, causes, rules, tmp_path):
    with serving(make()) as root:
        await sockets.record(client, f"{root}/mcp", tmp_path / "trace.jsonl")

    assert judged(tmp_path / "trace.jsonl") == (causes, rules)


@pytest.mark.parametrize(("client", "causes", "rules"), cases(NEWER))
async def test_a_client_of_the_newer_era_is_seen_through(client, causes, rules, tmp_path):
    async with serving_app(servers.modern()) as url:
        await sockets.record(client, url, tmp_path / "trace.jsonl")

    assert judged(tmp_path / "trace.jsonl") == (causes, rules)
