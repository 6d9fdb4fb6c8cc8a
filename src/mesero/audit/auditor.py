"""The engine: lines in, findings out. Streaming, in bounded memory, and pure.

Each line becomes evidence (`reading`), is judged by the rules that hold for its kind and its revision, and
then leaves what correlation needs (`tracking`). A message's shape is judged by its own revision; each
violation is told once, by the rule that claims it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mesero.audit import families
from mesero.audit.evidence import Evidence, short
from mesero.audit.findings import Blame, Finding, Phase
from mesero.audit.link import LinkState
from mesero.audit.reading import read_line
from mesero.audit.rules import ALL, HANDSHAKE, RULES, Check, Fault, Rule
from mesero.audit.streams import open_link
from mesero.audit.tracking import remember
from mesero.revisions import revision_module_for
from mesero.revisions.judge import check_definition, check_message
from mesero.revisions.violations import Violation
from mesero.trace.format import Header, Line, LinkLine

__all__ = ["MAX_FINDINGS_PER_LINE", "Auditor", "audit", "phase_of"]

MAX_FINDINGS_PER_LINE = 100
"""A line with more tells the first of them: a list of a thousand broken tools is one thing to mend."""

_Plan = tuple[tuple[Rule, Check], ...]
_MESSAGES = frozenset({"request", "notification", "result", "error", "broken"})
_SENDERS: dict[str, Blame] = {"c2s": "client", "s2c": "server"}


class Auditor:
    """Judges one trace, line by line.

    Args:
        rules: The rules to judge by; all registered ones by default.

    Attributes:
        links: What is remembered of each link; `mesero.audit.diagnosis` reads it.
    """

    def __init__(self, *, rules: Iterable[Rule] | None = None) -> None:
        families.load()
        self._rules = tuple(RULES.values() if rules is None else rules)
        self._claims = tuple(rule for rule in self._rules if rule.claim is not None)
        self._methods = frozenset(method for rule in self._rules for method in rule.methods)
        self._plans: dict[tuple[str, str, str, str, bool], _Plan] = {}
        self._continues = False
        self.links: dict[str, LinkState] = {}

    def receive(self, line: Header | Line) -> list[Finding]:
        """Judge the next line."""
        if isinstance(line, Header):
            self._continues = line.continues
            for name, known in line.links.items():
                link = self._link_of(name)
                link.title, link.transport, link.target = known.name, known.transport, known.target
            return []
        link = self._link_of(line.link)
        link.last_t, link.last_seq = line.t, line.seq
        if isinstance(line, LinkLine):
            open_link(link, line)
            return []
        findings: list[Finding] = []
        for evidence in read_line(link, line):
            self._judge(evidence, findings)
            remember(evidence)
        return findings[:MAX_FINDINGS_PER_LINE]

    def receive_end(self) -> list[Finding]:
        """Judge each link as a whole: the trace is over."""
        findings: list[Finding] = []
        connected: set[str] = set()
        for link in reversed(self.links.values()):
            # A client that changes the transport opens another link to the same target.
            link.is_replaced = not link.is_connected() and link.target in connected
            if link.is_connected() and link.target:
                connected.add(link.target)
        for link in self.links.values():
            evidence = Evidence(link, None, "end")
            if link.current is not None:
                evidence.era, evidence.revision = "legacy", link.current.revision
            elif link.modern_requests:
                evidence.era, evidence.revision = "modern", ALL[-1]
            self._run(evidence, findings)
        return findings

    def _link_of(self, name: str) -> LinkState:
        link = self.links.get(name)
        if link is None:
            link = self.links[name] = LinkState(name)
            link.may_lack_start = self._continues
        return link

    # -- judging -----------------------------------------------------------------------------------------

    def _judge(self, evidence: Evidence, findings: list[Finding]) -> None:
        if evidence.kind in _MESSAGES:
            for violation in _violations_of(evidence):
                rule = self._find_claim(violation, evidence)
                if rule is not None:
                    said = f"{evidence.what}: {violation.path} {violation.message}"
                    self._tell(rule, evidence, Fault(said, path=violation.path), findings)
        self._run(evidence, findings)

    def _run(self, evidence: Evidence, findings: list[Finding]) -> None:
        for rule, judge in self._plan_for(evidence):
            for found in judge(evidence):
                fault = Fault(found) if isinstance(found, str) else found
                self._tell(rule, evidence, fault, findings)

    def _tell(self, rule: Rule, evidence: Evidence, fault: Fault, findings: list[Finding]) -> None:
        finding = _finding(rule, evidence, fault)
        evidence.link.found.setdefault(rule.id, (finding.seq, finding.message))
        findings.append(finding)

    def _plan_for(self, evidence: Evidence) -> _Plan:
        about = evidence.about if evidence.about in self._methods else ""
        key = (evidence.kind, evidence.revision, about, evidence.direction, evidence.exchange is not None)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = tuple(
                (rule, rule.check)
                for rule in self._rules
                if evidence.kind in rule.on
                and rule.check is not None
                and (not rule.side or rule.side == evidence.direction or evidence.kind == "end")
                and (evidence.exchange is not None or not rule.needs_http)
                and _holds_for(rule, evidence.revision)
                and (not rule.methods or about in rule.methods)
            )
        return plan

    def _find_claim(self, violation: Violation, evidence: Evidence) -> Rule | None:
        for rule in self._claims:
            if (
                _holds_for(rule, evidence.revision)
                and rule.claim is not None
                and rule.claim(violation, evidence)
            ):
                return rule
        return None


def audit(lines: Iterable[Header | Line], *, rules: Iterable[Rule] | None = None) -> Iterator[Finding]:
    """Judge a whole trace; findings come as soon as they are found."""
    auditor = Auditor(rules=rules)
    for line in lines:
        yield from auditor.receive(line)
    yield from auditor.receive_end()


def _holds_for(rule: Rule, revision: str) -> bool:
    """A message of unknown revision is judged only by what holds in all of them."""
    return revision in rule.revisions if revision else rule.revisions == ALL


def _violations_of(evidence: Evidence) -> list[Violation]:
    answers = evidence.asked.method if evidence.kind == "result" and evidence.asked is not None else None
    message = evidence.message
    if isinstance(message, list) and message:
        # Its members are judged one by one; whether it may be there at all is a rule of its own.
        return []
    if evidence.revision:
        found = check_message(evidence.revision, message, answers=answers)
        if found and _is_refusal(evidence):
            found = [each for each in found if (each.path, each.message) != _NO_ID]
        return found
    if evidence.kind == "broken":
        return check_message(HANDSHAKE[-1], message)
    # Of an unknown revision: by the envelope alone, which is the same in all of them.
    definition = revision_module_for(HANDSHAKE[-1]).ENVELOPES[evidence.kind]
    return check_definition(HANDSHAKE[-1], definition, message)


_NO_ID = ("$", 'lacks "id"')


def _is_refusal(evidence: Evidence) -> bool:
    """Whether HTTP refused the request: then the body may be an error without an id, in every revision.

    https://modelcontextprotocol.io/specification/2025-06-18/basic/transports#sending-messages-to-the-server
    """
    exchange = evidence.exchange
    return evidence.kind == "error" and exchange is not None and exchange.status >= 400


# -- findings ------------------------------------------------------------------------------------------------


def _finding(rule: Rule, evidence: Evidence, fault: Fault) -> Finding:
    return Finding(
        rule=rule.id,
        severity=rule.severity,
        phase=rule.phase or phase_of(evidence),
        blame=fault.blame or rule.blame or _SENDERS[evidence.direction],
        link=evidence.link.name,
        seq=evidence.seq if fault.seq < 0 else fault.seq,
        revision=evidence.revision,
        message="".join(char if char.isprintable() else "\ufffd" for char in fault.message),
        fix=fault.fix or rule.fix,
        spec=rule.spec,
        path=short(fault.path, quoted=False) if len(fault.path) > _MAX_PATH_CHARS else fault.path,
    )


_MAX_PATH_CHARS = 400


def phase_of(evidence: Evidence) -> Phase:
    """The part of the connection's life that a line belongs to."""
    link = evidence.link
    if link.exit is not None or link.closed:
        return "shutdown"
    if evidence.about == "server/discover":
        return "discover"
    shake = link.current
    if evidence.about in ("initialize", "notifications/initialized"):
        return "initialize"
    if evidence.kind in ("spawn", "exit", "text", "stderr") and not link.answered and shake is None:
        return "launch"
    if shake is not None and not shake.is_done and evidence.era == "legacy":
        return "initialize"
    return "operation"
