"""The requests of all revisions, and the questions that a server asks: meaning, sender, usual trouble."""

from __future__ import annotations

from typing import Final

from mesero.explain.glossary.entries import (
    HANDSHAKE,
    ONLY_2025_11,
    SINCE_2025_06,
    STATELESS,
    Entry,
)

__all__ = ["QUESTIONS", "REQUESTS"]

REQUESTS: Final = (
    Entry(
        name="server/discover",
        kind="request",
        title="Ask what the server is",
        meaning="Asks for the revisions that the server speaks, its capabilities, its name and its"
        " instructions. A client may send it first to find out which era a server belongs to; it need not,"
        " since every request says what it needs.",
        sender="client",
        revisions=STATELESS,
        causes=(
            (
                "-32601 or silence in answer to it: the server only speaks revisions with a handshake; send"
                " `initialize` next"
            ),
            (
                "-32022: the server is stateless, but does not speak the revision of the probe; choose one of"
                " `data.supported`"
            ),
        ),
        spec="server/discover",
    ),
    Entry(
        name="subscriptions/listen",
        kind="request",
        title="Listen for changes",
        meaning="Opens a stream of notifications about what its `notifications` filter names. The server"
        " first acknowledges what it will send; the result comes only when the stream ends.",
        sender="client",
        revisions=STATELESS,
        causes=(
            "no acknowledgment: something between client and server holds the stream back until it ends",
            "changes do not arrive: the server acknowledged fewer kinds than were asked for",
            "the stream ends after a fixed time: a proxy closes what is idle; comments keep it open",
        ),
        spec="basic/patterns/subscriptions#opening-a-stream",
    ),
    Entry(
        name="initialize",
        kind="request",
        title="Begin the handshake",
        meaning="The first message of a connection with a handshake: the client offers a revision, its"
        " capabilities and its name, the server answers with the revision that will be used and what it"
        " offers. Both remember it for as long as the connection or the session lasts.",
        sender="client",
        revisions=HANDSHAKE,
        causes=(
            (
                "no answer: the server is still starting, has died, or writes something other than messages"
                " to its stdout"
            ),
            "-32601: the server is stateless only; `server/discover` says what it speaks",
            (
                "another revision in the answer: it is the server's counter-offer; a client that does not"
                " speak it has to close the connection"
            ),
        ),
        spec="2025-11-25/basic/lifecycle#initialization",
    ),
    Entry(
        name="ping",
        kind="request",
        title="Is anybody there?",
        meaning="Asks for an empty result, to find out whether the other side still answers.",
        sender="both",
        revisions=HANDSHAKE,
        causes=(
            (
                "-32601: correct in the stateless era, where it was taken out; an answer of any kind shows"
                " that the other side is alive"
            ),
        ),
        spec="2025-11-25/basic/utilities/ping",
    ),
    Entry(
        name="tools/list",
        kind="request",
        title="List the tools",
        meaning="Asks for one page of the tools; `nextCursor` in the result leads to the next page.",
        sender="client",
        causes=(
            (
                "an empty list: the server filters by credentials, or registers its tools only after it has"
                " started"
            ),
            "tools are missing: a client that does not follow `nextCursor` sees the first page only",
        ),
        spec="server/tools#listing-tools",
    ),
    Entry(
        name="tools/call",
        kind="request",
        title="Call a tool",
        meaning="Runs the tool of that `name` with these `arguments`. A failure of the tool itself is a"
        " result with `isError`, which the model may read; an error is for what the protocol does not allow.",
        sender="client",
        causes=(
            (
                "-32602: there is no such tool, or the metadata of the request is wrong; wrong arguments are"
                " better told in a result with `isError`"
            ),
            "no answer: the host's own time limit was shorter than the tool",
            "`input_required`: the tool has a question; the client answers it by sending the call again",
        ),
        spec="server/tools#calling-tools",
    ),
    Entry(
        name="resources/list",
        kind="request",
        title="List the resources",
        meaning="Asks for one page of the resources that have an address of their own.",
        sender="client",
        causes=("an empty list although there are resources: they may be reachable by a template only",),
        spec="server/resources#listing-resources",
    ),
    Entry(
        name="resources/templates/list",
        kind="request",
        title="List the resource templates",
        meaning="Asks for one page of the URI templates from which addresses of resources are built.",
        sender="client",
        causes=("-32601: a server with resources but without templates has to answer with an empty list",),
        spec="server/resources#resource-templates",
    ),
    Entry(
        name="resources/read",
        kind="request",
        title="Read a resource",
        meaning="Asks for the contents behind one `uri`, as text or as bytes in Base64.",
        sender="client",
        causes=(
            "-32602 with `data.uri` (until 2025-11-25: -32002): there is no such resource",
            "a relative URI, or one with characters that are not escaped",
        ),
        spec="server/resources#reading-resources",
    ),
    Entry(
        name="resources/subscribe",
        kind="request",
        title="Subscribe to a resource",
        meaning="Asks to be told with `notifications/resources/updated` when this resource changes.",
        sender="client",
        revisions=HANDSHAKE,
        causes=("-32601 in the stateless era: `subscriptions/listen` took its place",),
        spec="2025-11-25/server/resources#subscriptions",
    ),
    Entry(
        name="resources/unsubscribe",
        kind="request",
        title="End a subscription",
        meaning="Takes back `resources/subscribe` for one resource.",
        sender="client",
        revisions=HANDSHAKE,
        causes=("-32601 in the stateless era: closing the stream of `subscriptions/listen` ends it there",),
        spec="2025-11-25/server/resources#subscriptions",
    ),
    Entry(
        name="prompts/list",
        kind="request",
        title="List the prompts",
        meaning="Asks for one page of the prompts and of the arguments that they take.",
        sender="client",
        causes=("-32601: the server has not declared the capability `prompts`; do not ask for them",),
        spec="server/prompts#listing-prompts",
    ),
    Entry(
        name="prompts/get",
        kind="request",
        title="Fill in a prompt",
        meaning="Asks for the messages of one prompt, with these arguments put in. All of them are strings.",
        sender="client",
        causes=("-32602: there is no such prompt, a required argument is missing, or one is no string",),
        spec="server/prompts#getting-a-prompt",
    ),
    Entry(
        name="completion/complete",
        kind="request",
        title="Suggest values",
        meaning="Asks for values that an argument of a prompt or of a resource template may take, given what"
        " has been typed. At most 100 come at once.",
        sender="client",
        causes=("-32602: `ref` names a prompt or template that does not exist",),
        spec="server/utilities/completion",
    ),
    Entry(
        name="logging/setLevel",
        kind="request",
        title="Choose how much is logged",
        meaning="Sets the least severe level at which the server sends `notifications/message`, for the whole"
        " session.",
        sender="client",
        revisions=HANDSHAKE,
        causes=(
            (
                "-32601 in the stateless era: each request says the level that it wants, in"
                " `_meta` under `io.modelcontextprotocol/logLevel`"
            ),
        ),
        spec="2025-11-25/server/utilities/logging",
    ),
    Entry(
        name="tasks/get",
        kind="request",
        title="How far is a task?",
        meaning="Asks for the state of a task that an earlier request began.",
        sender="both",
        revisions=ONLY_2025_11,
        causes=("-32602: the task is unknown, or was deleted when its `ttl` had passed",),
        spec="2025-11-25/basic/utilities/tasks",
    ),
    Entry(
        name="tasks/result",
        kind="request",
        title="The result of a task",
        meaning="Waits for a task to end, and gives the result that the original request would have had.",
        sender="both",
        revisions=ONLY_2025_11,
        causes=("no answer for a long time: the task is still running, or waits for input",),
        spec="2025-11-25/basic/utilities/tasks",
    ),
    Entry(
        name="tasks/list",
        kind="request",
        title="List the tasks",
        meaning="Asks for one page of the tasks that the other side knows.",
        sender="both",
        revisions=ONLY_2025_11,
        causes=("-32601: the other side has not declared `tasks.list`",),
        spec="2025-11-25/basic/utilities/tasks",
    ),
    Entry(
        name="tasks/cancel",
        kind="request",
        title="Cancel a task",
        meaning="Asks to end a task. A task is cancelled by this, not by `notifications/cancelled`.",
        sender="both",
        revisions=ONLY_2025_11,
        causes=("-32602: the task has ended already",),
        spec="2025-11-25/basic/utilities/tasks",
    ),
)

QUESTIONS: Final = (
    Entry(
        name="elicitation/create",
        kind="question",
        title="Ask the user",
        meaning="The server asks the person at the client to fill in a form or to visit a page. With a"
        " handshake it is a request of the server; in the stateless era it is an entry of `inputRequests` in"
        " a result that says `input_required`.",
        sender="server",
        revisions=SINCE_2025_06,
        causes=(
            "-32601 from the client, or -32021 from the server: the client has not declared `elicitation`",
            "the host's time limit ran out while the person was thinking",
        ),
        spec="client/elicitation",
    ),
    Entry(
        name="sampling/createMessage",
        kind="question",
        title="Ask the model",
        meaning="The server asks the client's model to continue a conversation. Deprecated in 2026-07-28:"
        " servers call a model's provider themselves. Carried like `elicitation/create`.",
        sender="server",
        causes=(
            (
                "-32601 from the client, or -32021 from the server: the client has not declared `sampling`;"
                " few hosts do"
            ),
            "-1: the person refused it",
        ),
        spec="client/sampling",
    ),
    Entry(
        name="roots/list",
        kind="question",
        title="Ask for the folders",
        meaning="The server asks which folders it may work in. Deprecated in 2026-07-28: pass them as"
        " parameters of tools. Carried like `elicitation/create`.",
        sender="server",
        causes=("-32601 from the client, or -32021 from the server: the client has not declared `roots`",),
        spec="client/roots",
    ),
)
