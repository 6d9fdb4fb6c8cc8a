"""The audit: every message of a trace judged by its own revision.

    from mesero.audit import audit
    for finding in audit(lines): ...

``rules`` is the registry, ``families`` the rules, ``auditor`` the engine, ``diagnosis`` names the cause of a
symptom, ``exports`` writes findings as JSON, SARIF and JUnit XML. All of it is pure: lines in, findings out.
"""

from mesero.audit.auditor import Auditor, audit
from mesero.audit.findings import SEVERITIES, Finding, Severity, is_at_least
from mesero.audit.rules import FAMILIES, RULES, Fault, Rule

__all__ = [
    "FAMILIES",
    "RULES",
    "SEVERITIES",
    "Auditor",
    "Fault",
    "Finding",
    "Rule",
    "Severity",
    "audit",
    "is_at_least",
]
