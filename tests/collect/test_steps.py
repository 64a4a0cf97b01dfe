"""What a collection shows while it runs: counts that are known, and a time once there is a rate."""

from __future__ import annotations

import asyncio
import re

from eosctl.collect.reader import ReadOnly
from eosctl.collect.steps import Steps
from eosctl.lab.virtual_loop import run_virtual
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.list_groups import ListGroupsRequest


class Slow:
    """Answers each request after a second."""

    async def request(self, node_id: int, api_key: ApiKey, message: object, *, cap: int | None = None) -> None:
        await asyncio.sleep(1)

    async def request_any(self, api_key: ApiKey, message: object) -> None:
        await asyncio.sleep(1)


def shown(*, in_turn: bool) -> list[tuple[float, str]]:
    texts: list[tuple[float, str]] = []

    async def scenario() -> None:
        loop, reader = asyncio.get_running_loop(), ReadOnly(Slow())  # type: ignore[arg-type]
        reader.steps = Steps(lambda text: texts.append((loop.time(), text)), loop.time)
        reader.steps.begin("offsets")
        asks = [reader.request(1, ApiKey.LIST_GROUPS, ListGroupsRequest()) for _ in range(100)]
        if in_turn:
            for ask in asks:
                await ask
        else:
            await asyncio.gather(*asks)
        reader.steps.begin("groups")

    run_virtual(scenario())
    return texts


def test_a_planned_step_shows_its_end_in_time() -> None:
    texts = shown(in_turn=False)
    assert texts[0][1] == "offsets"
    assert not [text for at, text in texts if at < 3 and "left" in text], "no rate yet"
    timed = [
        (at, found)
        for at, text in texts
        if (found := re.fullmatch(r"offsets: (\d+) of 100 requests, about (\d+) s left", text))
    ]
    assert len(timed) > 40
    for at, found in timed:
        assert abs(at + int(found[2]) - 50) <= 1 + 0.2 * (50 - at)
    assert texts[-1][1] == "groups"


def test_requests_that_follow_each_other_have_no_end() -> None:
    texts = [text for _, text in shown(in_turn=True)]
    assert "offsets: 50 requests" in texts
    assert not [text for text in texts if " of " in text or "left" in text]


def test_late_answers_do_not_count_in_the_next_step() -> None:
    texts: list[str] = []
    time_s = [0.0]
    steps = Steps(texts.append, lambda: time_s[0])
    steps.begin("brokers")
    early = steps.plan()
    steps.begin("offsets")
    number = steps.plan()
    time_s[0] = 1
    steps.answer(early)
    steps.answer(number)
    assert texts == ["brokers", "offsets", "offsets: 1 request"]
