"""One symptom, several causes: each is told from the others, and each has a case that shows it."""

import pytest

from mesero.audit.auditor import Auditor
from mesero.audit.diagnosis import CAUSES, SYMPTOMS, diagnose, load_causes
from tests.broken import test_clients, test_commands, test_sign_in, test_urls

load_causes()


def causes_of(symptom):
    return [each for each in CAUSES.values() if each.code.partition("-")[0] == symptom]


# -- told apart ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("symptom", SYMPTOMS)
def test_each_cause_of_a_symptom_is_the_answer_to_its_own_example_and_to_no_other(symptom):
    answers = {each.code: [found.code for found in diagnose(each.example)] for each in causes_of(symptom)}

    assert answers == {code: [code] for code in answers}


@pytest.mark.parametrize("cause", [pytest.param(each, id=each.code) for each in CAUSES.values()])
def test_what_is_tried_before_a_cause_is_not_supported_by_its_example(cause):
    auditor = Auditor()
    for line in cause.example:
        auditor.receive(line)
    auditor.receive_end()
    (link,) = auditor.links.values()
    group = [each.code for each in causes_of(cause.code.partition("-")[0])]
    before = group[: group.index(cause.code)]

    assert [code for code in before if next(CAUSES[code].find(link), None) is not None] == []
    # The order is by evidence: what a later one finds here is the same trouble, seen less closely.
    assert next(cause.find(link), None) is not None


# -- where each is seen --------------------------------------------------------------------------------------

LIVE = ("CLOSED", "START", "S404", "S401", "S400", "S405", "S406", "S421", "PAGE", "TOOLS", "VERSION")
"""The symptoms that the doctor can provoke by connecting."""

RECORDED = "only a recording of"
"""How the reason begins why no live case can show a cause."""

# Cause → the case that shows it: a table's name, the case in it (a test by its name is one too), and what the
# doctor calls it when it sees more than the wire; or the reason why no case can show it.
SEEN = {
    "CLOSED-1": ("commands", "test_a_program_that_is_nowhere_is_said_to_be_missing"),
    "CLOSED-2": ("commands", "test_a_container_without_stdin_is_named"),
    "CLOSED-3": ("clients", "P111"),
    "CLOSED-4": ("commands", "P05_quiet"),
    "CLOSED-5": ("commands", "P15"),
    "CLOSED-6": ("clients", "P18"),
    "CLOSED-7": ("commands", "P27"),
    "CLOSED-8": ("clients", "leaves early"),
    "CLOSED-9": ("clients", "dies of cancelling"),
    "CLOSED-10": ("clients", "P41"),
    "START-1": ("commands", "P16_writes"),
    "START-2": ("commands", "test_an_installer_at_work_is_told_from_a_slow_server"),
    "START-3": "only a recording of a server that takes more than 10 s, which no test has the time for",
    "START-4": ("commands", "P22_deaf"),
    "VERSION-1": ("clients", "P110"),
    "VERSION-2": ("commands", "P121"),
    "VERSION-3": ("clients", "P112"),
    "VERSION-4": ("clients", "P33"),
    "VERSION-5": ("urls", "P34"),
    "VERSION-6": ("clients", "P125"),
    "VERSION-7": ("clients", "P114"),
    "S404-1": ("urls", "P77", "SESSION-2"),
    "S404-2": ("clients", "P74"),
    "S404-3": ("clients", "P123 ping"),
    "S404-4": ("urls", "P132 nowhere"),
    "S401-1": ("signing in", "test_a_token_that_nobody_filled_in_is_named"),
    "S401-2": ("clients", "P102 expired"),
    "S401-3": ("signing in", "test_credentials_that_are_refused_are_told_and_not_shown"),
    "S401-4": ("signing in", "P94", "AUTH-1"),
    "S400-1": ("clients", "P117"),
    "S400-2": ("clients", "P118"),
    "S400-3": ("clients", "P135"),
    "S400-4": ("clients", "P112 HTTP"),
    "S400-5": ("clients", "P35"),
    "S400-6": ("clients", "P79"),
    "S405-1": ("urls", "test_the_older_transport_is_named_at_its_own_path"),
    "S405-2": ("urls", "P66", "HTTP-7"),
    "S406-1": ("clients", "P68"),
    "S406-2": ("urls", "P69", "HTTP-008"),
    "S421-1": ("urls", "P73"),
    "PAGE-1": ("urls", "P81 page"),
    "TOOLS-1": ("commands", "P37", "CAP-1"),
    "TOOLS-2": ("commands", "P51"),
    "TOOLS-3": ("clients", "P38"),
    "TOOLS-4": ("clients", "P52 empty page"),
    "TOOLS-5": ("clients", "no tools"),
}


def cases_in(module, *tables):
    named = {case[0]: case for table in tables for case in table}
    return named | {name: None for name in vars(module) if name.startswith("test_")}


CASES = {
    "commands": cases_in(test_commands, test_commands.CASES, test_commands.HANGING),
    "urls": cases_in(test_urls, test_urls.CASES),
    "signing in": cases_in(test_sign_in, test_sign_in.CASES),
    "clients": cases_in(test_clients, test_clients.STDIO, test_clients.HTTP, test_clients.NEWER),
}


def test_every_cause_of_what_the_doctor_can_provoke_has_its_case_or_a_reason():
    assert set(SEEN) == {each.code for symptom in LIVE for each in causes_of(symptom)}


@pytest.mark.parametrize(("code", "place"), SEEN.items())
def test_the_case_of_a_cause_is_there(code, place):
    if isinstance(place, str):
        assert place.startswith(RECORDED)
        return
    table, name, *closer = place
    case = CASES[table][name]
    if case is not None:
        assert (closer or [code])[0] in case[-2 if table == "clients" else -1]
