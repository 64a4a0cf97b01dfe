"""The documented application, and what people make of it: each wrong one breaks a single rule of the template."""

from __future__ import annotations

import importlib.util
import itertools
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from confluent_kafka import KafkaException, Message, Producer

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "exactly_once_app.py"
JOIN_S = 120.0


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("exactly_once_app", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


example = _load()


class Crash(Exception):  # noqa: N818
    """The process dies here; nothing that comes later in the loop is done."""


class Right(example.Application):  # type: ignore[misc,name-defined]
    """The template, whose process dies at each step of its loop in turn, at every third batch."""

    steps = ("answered", "offsets sent", "committed")
    deaths = itertools.count()  # replaced for each test
    due = ""

    def process(self, batch: Sequence[Message]) -> None:
        number = next(self.deaths)
        self.due = self.steps[number // 3 % len(self.steps)] if number % 3 == 1 else ""
        super().process(batch)
        self.die_at("committed")

    def die_at(self, step: str) -> None:
        if self.due == step:
            raise Crash(step)

    def finish(self, batch: Sequence[Message]) -> None:
        self.producer.flush(10)
        self.die_at("answered")
        self.producer.send_offsets_to_transaction(
            example.next_offsets(batch), self.consumer.consumer_group_metadata(), example.TIMEOUT_S
        )
        self.die_at("offsets sent")
        self.commit()


class OffsetsOutside(Right):
    """Commits the offsets after the transaction: who dies in between handles the batch again."""

    steps = ("committed",)

    def finish(self, batch: Sequence[Message]) -> None:
        self.commit()
        self.die_at("committed")
        self.consumer.commit(offsets=example.next_offsets(batch), asynchronous=False)


class RetryDuplicates(Right):
    """Takes a commit whose answer is late for one that failed, and does the batch again without looking."""

    steps = ("answer lost",)

    def finish(self, batch: Sequence[Message]) -> None:
        super().finish(batch)
        if self.due == "answer lost":
            self.due = ""
            self.producer.begin_transaction()
            for message in batch:
                self.write_result(message)
            super().finish(batch)


class DeadLettersOutside(Right):
    """Hands over dead letters with a producer of their own: they stay when the transaction is aborted."""

    steps = ("answered",)

    def __init__(self, settings: Any) -> None:
        super().__init__(settings)
        self.plain = Producer({"bootstrap.servers": settings.bootstrap, "linger.ms": 0})

    def reject(self, message: Message) -> None:
        self.plain.produce(self.settings.dead_letters, message.value(), key=message.key())
        assert self.plain.flush(10) == 0


class ReadsUncommitted(Right):
    """Reads its input without waiting for the commit."""

    steps = ("none",)
    isolation_level = "read_uncommitted"


@contextmanager
def running(kind: type[Right], settings: Any) -> Iterator[None]:
    """Run an application and start it again whenever it dies, as a supervisor does."""
    stop = threading.Event()
    broken: list[BaseException] = []
    alive = type(kind.__name__, (kind,), {"deaths": itertools.count()})

    def supervise() -> None:
        while not stop.is_set():
            try:
                alive(settings).run(stop)
            except (Crash, KafkaException):
                continue
            except BaseException as error:  # noqa: BLE001 - shown by the test
                broken.append(error)
                return

    thread = threading.Thread(target=supervise, name=kind.__name__, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(JOIN_S)
        assert not thread.is_alive()
    assert broken == []
