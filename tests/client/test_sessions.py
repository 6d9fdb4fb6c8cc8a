"""That the caller of sessions is found, or known to be missing, and fills its surface."""

import inspect

import pytest

from mesero.client import sessions
from mesero.client.asking import Asked
from mesero.client.sessions import SessionCalls, has_sessions, session_over
from mesero.errors import UsageError
from mesero.testing import scripted_server
from mesero.types import Implementation

SETTINGS = {
    "asked": Asked(),
    "info": Implementation("us", "1"),
    "capabilities": {},
    "timeout_s": 1.0,
    "total_timeout_s": 1.0,
    "on_log": None,
    "log_level": None,
    "on_notification": lambda _: None,
}


async def test_the_caller_of_sessions_fills_the_surface_that_the_client_knows():
    calls = session_over(scripted_server(), **SETTINGS)
    assert has_sessions()
    assert (calls.is_closed, calls.last_id) == (False, 0)
    for name, member in inspect.getmembers(SessionCalls, inspect.isfunction):
        if not name.startswith("_"):
            found = inspect.signature(getattr(type(calls), name)).parameters
            assert list(found) == list(inspect.signature(member).parameters)


async def test_without_the_package_there_is_no_session(monkeypatch):
    monkeypatch.setattr(sessions, "has_adapter", lambda _part: False)
    monkeypatch.setattr(sessions, "find_adapter", lambda _part: None)
    assert not has_sessions()
    with pytest.raises(UsageError, match="is not there"):
        session_over(scripted_server(), **SETTINGS)
