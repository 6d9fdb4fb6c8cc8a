"""Asks in a call, takes a no, and dies when the question is dismissed."""

from asking import finish, serve

OUTCOMES = {"accept": finish, "decline": finish}
serve(lambda request, answered: OUTCOMES[answered["result"]["action"]](request, answered))
