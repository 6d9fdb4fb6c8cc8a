import pytest

from mesero.doctor.questions import Questions, SamplingRefusedError
from mesero.types import CreateMessageParams, ElicitFormParams, ElicitUrlParams


async def test_every_question_is_turned_down_and_kept():
    questions = Questions()
    answers = questions.settings()
    form = ElicitFormParams(message="Which city?", requested_schema={})

    assert (await answers["elicit"](form)).action == "decline"
    questions.action = "cancel"
    assert (
        await answers["elicit_url"](ElicitUrlParams(message="Pay", url="https://x.example"))
    ).action == "cancel"
    assert await answers["roots"]() == []
    with pytest.raises(SamplingRefusedError) as refused:
        await answers["sample"](CreateMessageParams(messages=[], max_tokens=1))

    assert refused.value.code == -1
    assert [each.split()[0].rstrip(":") for each in questions.asked] == [
        "elicitation/create",
        "elicitation/create",
        "roots/list",
        "sampling/createMessage",
    ]
