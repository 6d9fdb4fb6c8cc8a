import pytest

from mesero.server import Context
from mesero.types import (
    CompleteResult,
    Completion,
    GetPromptResult,
    Icon,
    ImageContent,
    PromptMessage,
    TextContent,
    UnknownContent,
)
from tests.server.talking import quiet_server, talking


async def rendered(function, arguments=None):
    server = quiet_server()
    server.prompt(name="prompt")(function)
    async with talking(server) as talk:
        return await talk.ask("prompts/get", {"name": "prompt", "arguments": arguments or {}})


async def test_a_prompt_is_listed_with_its_arguments():
    server = quiet_server()

    @server.prompt(title="Review", icons=[Icon("https://example.com/i.png")], meta={"com.example/a": 1})
    async def review(code: str, language: str = "python") -> str:
        """Review some code.

        Args:
            code: The code.
        """
        return code + language

    @server.prompt
    def ping() -> str:
        return "ping"

    async with talking(server) as talk:
        ping_listed, review_listed = (await talk.result("prompts/list"))["prompts"]
    assert ping_listed == {"name": "ping"}
    assert review_listed == {
        "name": "review",
        "title": "Review",
        "description": "Review some code.",
        "arguments": [
            {"name": "code", "description": "The code.", "required": True},
            {"name": "language"},
        ],
        "icons": [{"src": "https://example.com/i.png"}],
        "_meta": {"com.example/a": 1},
    }


TEXT = {"role": "user", "content": {"type": "text", "text": "hi"}}
IMAGE = {"role": "user", "content": {"type": "image", "data": "aQ==", "mimeType": "image/png"}}
BEAM = {"role": "user", "content": {"type": "beam", "w": 1}}


@pytest.mark.parametrize(
    ("value", "messages"),
    [
        ("hi", [TEXT]),
        (TextContent("hi"), [TEXT]),
        (UnknownContent("beam", b'{"type":"beam","w":1}'), [BEAM]),
        (["hi", ImageContent("aQ==", "image/png")], [TEXT, IMAGE]),
        (PromptMessage("assistant", TextContent("hi")), [{**TEXT, "role": "assistant"}]),
        ([], []),
    ],
)
async def test_what_a_prompt_returns_becomes_messages(value, messages):
    answer = await rendered(lambda: value)
    assert answer["result"]["messages"] == messages
    assert answer["result"]["resultType"] == "complete"


async def test_a_prompt_may_build_its_result_itself_and_use_it_again():
    built = GetPromptResult(messages=[PromptMessage("user", TextContent("hi"))], description="d")
    for _ in range(2):
        assert (await rendered(lambda: built))["result"]["description"] == "d"
    assert built == GetPromptResult(messages=[PromptMessage("user", TextContent("hi"))], description="d")


async def test_arguments_come_as_text_and_are_read_as_their_types():
    def repeat(word: str, times: int, ctx: Context, loud: bool = False, share: float = 0.5) -> str:
        return f"{word * times} {loud} {share} {ctx.request_id}"

    answer = await rendered(repeat, {"word": "ho", "times": "2", "loud": "true"})
    assert answer["result"]["messages"][0]["content"]["text"] == "hoho True 0.5 101"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "needs the argument 'times'"),
        ({"times": "many"}, "argument 'times'"),
        ({"times": "1", "other": "x"}, "has no argument 'other'"),
        ({"times": 1}, "Expected `str`"),
    ],
)
async def test_arguments_that_do_not_fit_are_an_error(arguments, words):
    def repeat(times: int) -> str:
        return "x" * times

    error = (await rendered(repeat, arguments))["error"]
    assert error["code"] == -32602
    assert words in error["message"]


async def test_an_unknown_prompt_is_an_error():
    server = quiet_server()
    server.prompt(name="known")(lambda: "x")
    async with talking(server) as talk:
        error = await talk.error("prompts/get", {"name": "unknown"})
    assert error == {"code": -32602, "message": "Unknown prompt: unknown"}


async def test_a_prompt_that_fails_is_an_internal_error_without_a_traceback():
    def broken() -> str:
        raise LookupError("no words")

    server = quiet_server()
    server.prompt(broken)
    server.prompt(name="odd")(lambda: 5)
    async with talking(server) as talk:
        error = await talk.error("prompts/get", {"name": "broken"})
        odd = await talk.error("prompts/get", {"name": "odd"})
    assert error == {"code": -32603, "message": "the prompt 'broken' failed: LookupError: no words"}
    assert "Traceback" in server.lines[0]
    assert odd["code"] == -32603
    assert "not int" in odd["message"]


async def completed(function, argument="city", value="", context=None, ref=None):
    server = quiet_server()

    @server.prompt
    def travel(country: str, city: str) -> str:
        return country + city

    @server.resource("places://{country}/{city}")
    def place(country: str, city: str) -> str:
        return country + city

    server.completion("travel", "city")(function)
    server.completion("places://{country}/{city}", "city")(function)
    params = {
        "ref": ref or {"type": "ref/prompt", "name": "travel"},
        "argument": {"name": argument, "value": value},
    }
    if context is not None:
        params["context"] = context
    async with talking(server) as talk:
        return await talk.ask("completion/complete", params)


async def test_an_argument_is_completed():
    def cities(value: str) -> list[str]:
        return [city for city in ("Lima", "Lisbon", "Rome") if city.startswith(value)]

    answer = await completed(cities, value="Li")
    assert answer["result"]["completion"] == {"values": ["Lima", "Lisbon"], "total": 2}
    ref = {"type": "ref/resource", "uri": "places://{country}/{city}"}
    answer = await completed(cities, value="R", ref=ref)
    assert answer["result"]["completion"]["values"] == ["Rome"]


async def test_a_second_parameter_takes_the_arguments_settled_before():
    async def cities(value: str, settled: dict[str, str], ctx: Context) -> list[str]:
        assert ctx.request_id == 101
        return [f"{settled.get('country')}-{value}"]

    answer = await completed(cities, value="x", context={"arguments": {"country": "Peru"}})
    assert answer["result"]["completion"]["values"] == ["Peru-x"]
    for context in (None, {}):
        answer = await completed(cities, value="x", context=context)
        assert answer["result"]["completion"]["values"] == ["None-x"]


@pytest.mark.parametrize(
    ("value", "total"),
    [
        ([str(number) for number in range(150)], 150),
        (Completion([str(number) for number in range(150)], total=999), 999),
        (Completion([str(number) for number in range(150)]), 150),
        (CompleteResult(completion=Completion([str(number) for number in range(150)], has_more=True)), 150),
    ],
)
async def test_at_most_100_values_are_sent(value, total):
    answer = await completed(lambda typed: value)
    completion = answer["result"]["completion"]
    assert completion["values"] == [str(number) for number in range(100)]
    assert completion["total"] == total
    assert completion["hasMore"] is True


async def test_a_completion_may_be_built_or_be_a_single_text():
    answer = await completed(lambda typed: Completion(["a"], has_more=True))
    assert answer["result"]["completion"] == {"values": ["a"], "hasMore": True}
    answer = await completed(lambda typed: "Lima")
    assert answer["result"]["completion"]["values"] == ["Lima"]


async def test_an_argument_that_nobody_completes_has_no_values():
    answer = await completed(lambda typed: ["x"], argument="country")
    assert answer["result"]["completion"]["values"] == []


@pytest.mark.parametrize(
    "ref",
    [{"type": "ref/prompt", "name": "nowhere"}, {"type": "ref/resource", "uri": "places://x"}, {"type": "?"}],
)
async def test_completing_for_what_does_not_exist_is_an_error(ref):
    assert (await completed(lambda typed: ["x"], ref=ref))["error"]["code"] == -32602


async def test_a_completion_that_fails_is_an_internal_error():
    answer = await completed(lambda typed: None)
    assert answer["error"]["code"] == -32603
    assert "the completion of 'city' of 'travel' failed" in answer["error"]["message"]
