"""Transactions of confluent-kafka, driven by JSON lines (protocol: `eosctl/lab/verify/driver.py`).

Its librdkafka ends transactions with EndTxn up to version 4. Each actor has separate clients and a thread, since their
calls block. Run as `python -m eosctl.lab.verify.drivers.librdkafka`.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from collections.abc import Callable, Mapping
from queue import SimpleQueue
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from eosctl.client.access import BEARER, librdkafka_settings

Request = Mapping[str, Any]

_ASK_S: Final = 5.0
_TAKE_COUNT: Final = 20
_READ_COUNT: Final = 1_000
_FENCED: Final = (KafkaError._FENCED, KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH)
#: librdkafka's errors about a run's faults are in the history.
_SILENT: Final = logging.getLogger(f"{__name__}.silent")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False
#: A token without a known expiration: librdkafka requests the same one again.
_TOKEN_ENDS_S: Final = 4_102_444_800.0


class NotDelivered(KafkaException):
    """A record was rejected or not acknowledged: its transaction can only be aborted."""


def client_settings(access: Mapping[str, Any]) -> dict[str, Any]:
    """Return librdkafka's connection settings.

    Args:
        access: The result of `eosctl.client.access.program_access`.
    """
    settings: dict[str, Any] = librdkafka_settings(access)
    if token := settings.pop(BEARER, ""):
        settings["oauth_cb"] = lambda _: (token, _TOKEN_ENDS_S)
    return settings


def failure_class(error: Exception) -> str:
    """Return the reaction to an error that confluent-kafka's documentation of transactions prescribes."""
    known = error.args[0] if isinstance(error, KafkaException) and error.args else None
    if not isinstance(known, KafkaError):
        return "fatal"
    if known.code() in _FENCED:
        return "fenced"
    if known.txn_requires_abort() or (isinstance(error, NotDelivered) and not known.fatal()):
        return "abortable"
    return "again" if known.retriable() else "fatal"


class Actor:
    """A producer, a producer with a group member, or a consumer of one partition."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.asks: SimpleQueue[Request | None] = SimpleQueue()
        self._settings = {**settings, "error_cb": self._collect_messages}
        self._messages = ""
        self._producer: Any = None
        self._consumer: Any = None
        self._topic = ""
        self._taken: dict[int, int] = {}
        self._ops: Mapping[str, Callable[[Request], dict[str, Any] | None]] = {
            "open": self._open,
            "begin": lambda _: self._producer.begin_transaction(),
            "append": self._append,
            "offsets": self._send_offsets,
            "commit": self._commit,
            "abort": self._abort,
            "take": self._take,
            "read": self._read,
        }

    def act(self, ask: Request) -> dict[str, Any]:
        """Execute a request.

        Raises:
            KafkaException: The client failed.
        """
        return self._ops[ask["op"]](ask) or {}

    def words_of(self, error: Exception) -> str:
        """Return an error's message with the client's messages since it started, since a timeout alone has no cause."""
        if self._producer is not None:
            self._producer.poll(0)  # Serve the pending callbacks.
        return f"{str(error) or repr(error)}{self._messages}"

    def _collect_messages(self, error: KafkaError) -> None:
        self._messages = f" ({error.str()})"

    def close(self) -> None:
        """Leave the group; discard the producer without a request, like a process that dies."""
        if self._consumer is not None:
            self._consumer.close()
        self._producer = None

    def _open(self, ask: Request) -> None:
        if self._producer is None:
            settings = {
                **self._settings,
                "transactional.id": ask["transactional_id"],
                "transaction.timeout.ms": ask["timeout_ms"],
                "message.timeout.ms": ask["timeout_ms"],
                # librdkafka rejects a value above the transaction timeout.
                "socket.timeout.ms": min(3_000, ask["timeout_ms"]),
                "linger.ms": 0,
            }
            self._producer = Producer(settings, logger=_SILENT)
        self._producer.init_transactions(_ASK_S)
        if "group" in ask and self._consumer is None:
            self._topic = ask["topic"]
            self._consumer = self._consume(
                {
                    "group.id": ask["group"],
                    "session.timeout.ms": 6_000,
                    "heartbeat.interval.ms": 500,
                    "max.poll.interval.ms": 6_000,
                }
            )
            self._consumer.subscribe([self._topic])

    def _append(self, ask: Request) -> dict[str, Any]:
        delivered: list[tuple[Any, int]] = []
        value = ask["value"].encode()
        self._producer.produce(
            ask["topic"],
            value,
            partition=ask["partition"],
            on_delivery=lambda error, message: delivered.append((error, message.offset())),
        )
        while not delivered:  # Limited by message.timeout.ms.
            self._producer.poll(_ASK_S)
        error, offset = delivered[0]
        if error is not None:
            raise NotDelivered(error)
        return {"offset": offset}

    def _send_offsets(self, ask: Request) -> None:
        offsets = [TopicPartition(self._topic, partition, offset) for partition, offset in ask["offsets"]]
        self._producer.send_offsets_to_transaction(offsets, self._consumer.consumer_group_metadata(), _ASK_S)

    def _commit(self, _: Request) -> None:
        self._producer.commit_transaction(_ASK_S)
        self._taken = {}

    def _abort(self, _: Request) -> None:
        self._producer.abort_transaction(_ASK_S)
        if self._consumer is not None:
            for place in self._consumer.assignment():
                if place.partition in self._taken:
                    self._consumer.seek(TopicPartition(self._topic, place.partition, self._taken[place.partition]))
        self._taken = {}

    def _take(self, ask: Request) -> dict[str, Any]:
        records = self._poll(_TAKE_COUNT, ask)
        for partition, offset, _ in records:
            self._taken.setdefault(partition, offset)
        return {"records": records}

    def _read(self, ask: Request) -> dict[str, Any]:
        if self._consumer is None:
            self._consumer = self._consume({"group.id": "eosctl-reads-without-group"})
            self._consumer.assign([TopicPartition(ask["topic"], index, 0) for index in range(ask["count"])])
        return {"records": self._poll(_READ_COUNT, ask)}

    def _poll(self, count: int, ask: Request) -> list[tuple[int, int, str]]:
        messages = self._consumer.consume(count, ask["wait_ms"] / 1_000)
        return [(one.partition(), one.offset(), one.value().decode()) for one in messages if one.error() is None]

    def _consume(self, settings: Mapping[str, Any]) -> Any:
        defaults = {
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "fetch.wait.max.ms": 100,
        }
        return Consumer({**self._settings, **defaults, **settings}, logger=_SILENT)


def _live(actor: Actor, answers: Callable[[dict[str, Any]], None]) -> None:
    while (ask := actor.asks.get()) is not None:
        answer = {"number": ask["number"]}
        try:
            answer |= actor.act(ask)
        except Exception as error:  # noqa: BLE001 - the caller waits for the answer
            answer |= {"error": actor.words_of(error), "class": failure_class(error)}
        answers(answer)
    actor.close()


def main() -> None:
    """Respond to requests until the input ends."""
    writing = threading.Lock()

    def respond(answer: dict[str, Any]) -> None:
        with writing:
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()

    settings = client_settings(json.loads(sys.stdin.readline()))
    actors: dict[str, Actor] = {}
    for line in sys.stdin:
        ask = json.loads(line)
        name = ask["actor"]
        if ask["op"] == "drop":
            if name in actors:
                actors.pop(name).asks.put(None)
            continue
        if name not in actors:
            actors[name] = Actor(settings)
            threading.Thread(target=_live, args=(actors[name], respond), daemon=True).start()
        actors[name].asks.put(ask)
    os._exit(0)  # The clients' threads would wait for brokers.


if __name__ == "__main__":
    main()
