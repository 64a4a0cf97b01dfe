"""The controller's work grows linearly with a request, counted in comparisons of names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

import pytest

from eosctl.sandbox.controller.controller import Controller
from eosctl.sandbox.controller.topic_deletion import delete_topics
from eosctl.sandbox.controller.topic_growth import create_partitions
from eosctl.sandbox.controller.topics import create_topics
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import Emulation, RequestContext
from eosctl.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from eosctl.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from eosctl.wire.messages.delete_topics import DeleteTopicsRequest
from tests.sandbox.harness import Harness

NAME_COUNT: Final = 400


class Name(str):
    """A topic name that counts its comparisons with others."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Name.compared += 1
        return str.__eq__(self, other)


@pytest.fixture(scope="module")
def controller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Controller]:
    harness = Harness(tmp_path_factory.mktemp("cluster"), ClusterShape(1, Emulation("4.3"), 1, {}, fast=True))
    found = harness.core.nodes[1].controller
    assert found is not None
    harness.run_until(lambda: found.quorum.is_leader)
    yield found
    harness.close()


def names() -> list[str]:
    return [Name(f"topic.{number}") for number in range(NAME_COUNT)]


def create(controller: Controller, context: RequestContext) -> None:
    request = CreateTopicsRequest([CreatableTopic(name, 0, 1) for name in names()])
    controller.handle(partial(create_topics, controller, context, request))


def grow(controller: Controller, context: RequestContext) -> None:
    topics = [CreatePartitionsTopic(name, 2) for name in names()]
    request = CreatePartitionsRequest(topics, 1000, False)
    controller.handle(partial(create_partitions, controller, context, request))


def delete(controller: Controller, context: RequestContext) -> None:
    controller.handle(partial(delete_topics, controller, context, DeleteTopicsRequest(topic_names=names())))


@pytest.mark.parametrize("handle", [create, grow, delete])
def test_names_are_compared_only_with_their_equals(
    controller: Controller, handle: Callable[[Controller, RequestContext], None]
) -> None:
    Name.compared = 0
    handle(controller, RequestContext(0, 0, "test", "127.0.0.1", "User:ANONYMOUS", "PLAINTEXT", False, lambda _: None))
    assert Name.compared <= 4 * NAME_COUNT
