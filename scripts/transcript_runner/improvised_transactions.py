"""Random transactions, e.g. a fenced producer commits offsets after a timeout, or an old epoch adds partitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from scripts.transcript_runner.improvised import TOPIC, Improviser, Makers, Step, looking

GROUP: Final = "readers-$run"
IDS: Final = ("app-$run", "other-$run")
#: Requests that may end a transaction, and the states with markers in transit.
ENDING: Final = ("EndTxn", "InitProducerId")
MARKERS_ARRIVE_MS: Final = 1000
UNDER_WAY: Final = ("PrepareCommit", "PrepareAbort", "PrepareEpochFence")
#: A timeout short enough to expire, and the wait for it; the coordinator scans five times a second.
SHORT_TIMEOUT_MS, TIMEOUT_PASSES_S = 4000, 4.8


class Producer(NamedTuple):
    """A client's view of itself: the name of a producer id, its epoch, and the transactional id."""

    producer_id: str | int
    epoch: int
    transactional_id: str | None

    def named(self) -> Step:
        """Return the sender's fields of most requests."""
        return {
            "transactionalId": self.transactional_id,
            "producerId": self.producer_id,
            "producerEpoch": self.epoch,
        }


class Transactions(Improviser):
    """Two transactional ids, two partitions, and a group; earlier producers keep sending requests."""

    area = "improvised-transactions"

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._producers: list[Producer] = []
        self._sent: dict[tuple[str | int, int, int], list[Step]] = {}

    def opening(self) -> Sequence[Step]:
        """Return the first requests."""
        return [self._step("InitProducerId", 4, {"transactionalId": IDS[0], "transactionTimeoutMs": 60_000})]

    def makers(self) -> Makers:
        """Return the possible requests, with their weights."""
        return {
            self._init: 3,
            self._add_partitions: 5,
            self._add_in_a_batch: 2,
            self._produce: 9,
            self._add_offsets: 3,
            self._commit_offsets: 4,
            self._end: 6,
            self._look: 2,
            self._write_marker: 1,
            self._delete_records: 0.7,
            self._commit_plainly: 0.7,
            self._delete_offsets: 0.7,
            self._delete_group: 0.4,
            self._list: 0.7,
            self._let_time_pass: 0.4,
        }

    def closing(self) -> Sequence[Step]:
        """Return the queries whose responses show the final state."""
        return LOOKS

    def settle(self, step: Step) -> None:
        """Wait for decided transactions to complete, since the time of their markers is not defined."""
        if step.get("api") not in ENDING and "wait" not in step:
            return
        look = looking("DescribeTransactions", 0, {"transactionalIds": list(IDS)})
        states = self._do(look)["transactionStates"]
        if any(state["transactionState"] in UNDER_WAY for state in states):
            self._harness.advance(MARKERS_ARRIVE_MS)
            states = self._do(look)["transactionStates"]
            if any(state["transactionState"] in UNDER_WAY for state in states):  # Held by a forged marker.
                self._play({"wait": MARKERS_ARRIVE_MS / 1000})
        known = [
            {name: self._without_names(state[name]) for name in ("transactionalId", "transactionState")}
            for state in states
            if state["transactionState"]
        ]
        if known:
            self._play(look | {"until": {"transactionStates": known}})

    def learn(self, step: Step, answer: Any) -> None:
        """Record each identity of a producer, including old ones, which zombies use."""
        if step["api"] == "DescribeTransactions":
            _hide_group_partitions(answer)
        elif step["api"] in ENDING and answer["errorCode"] == "NONE" and answer["producerEpoch"] >= 0:
            found = Producer(answer["producerId"], answer["producerEpoch"], step["request"]["transactionalId"])
            self._producers = [each for each in self._producers if each != found] + [found]

    # --- what is said -------------------------------------------------------------------------------------------

    def _someone(self) -> Producer:
        """Return a sender: usually the newest, often an earlier one, rarely an unknown one."""
        chance = self._rng.random()
        newest = self._producers[-1]
        if chance < 0.62:
            return newest
        other = self._rng.choice(self._producers)
        if chance < 0.87:
            return other
        if chance < 0.93:
            return other._replace(epoch=max(0, other.epoch + self._rng.choice((-1, 1, 2))))
        if chance < 0.97:
            return other._replace(transactional_id=self._rng.choice(IDS))
        return other._replace(producer_id=77_777_777)

    def _of_transactions(self) -> Producer:
        someone = self._someone()
        return someone if someone.transactional_id else someone._replace(transactional_id=self._rng.choice(IDS))

    def _init(self) -> Step:
        rng = self._rng
        transactional_id = rng.choice((IDS[0], IDS[0], IDS[1], None))
        timeout_ms = rng.choice((60_000, 60_000, 60_000, SHORT_TIMEOUT_MS, 0, 900_001))
        request: Step = {"transactionalId": transactional_id, "transactionTimeoutMs": timeout_ms}
        if rng.random() < 0.6:
            return self._step("InitProducerId", rng.randint(2, 5), request)
        who = self._someone()
        if rng.random() < 0.7:
            request["transactionalId"] = who.transactional_id
        request |= {"producerId": who.producer_id, "producerEpoch": who.epoch}
        return self._step("InitProducerId", rng.randint(3, 5), request)

    def _partitions(self) -> list[int]:
        return self._rng.choice(([0], [0], [1], [0, 1], [0, 7]))

    def _add_partitions(self) -> Step:
        who = self._of_transactions()
        request = {
            "v3AndBelowTransactionalId": who.transactional_id,
            "v3AndBelowProducerId": who.producer_id,
            "v3AndBelowProducerEpoch": who.epoch,
            "v3AndBelowTopics": [{"name": TOPIC, "partitions": self._partitions()}],
        }
        return self._step("AddPartitionsToTxn", self._rng.randint(1, 3), request)

    def _add_in_a_batch(self) -> Step:
        speakers = {each.transactional_id: each for each in (self._of_transactions(), self._of_transactions())}
        transactions = [
            who.named()
            | {
                "verifyOnly": self._rng.random() < 0.5,
                "topics": [{"name": TOPIC, "partitions": self._partitions()}],
            }
            for who in speakers.values()
        ]
        version = 4 if self._target.release == "3.9" else self._rng.choice((4, 5))
        return self._step("AddPartitionsToTxn", version, {"transactions": transactions})

    def _produce(self) -> Step:
        rng = self._rng
        who = self._someone()
        partitions = rng.choice(((0,), (0,), (0,), (1,), (0, 1)))
        request = {
            "transactionalId": who.transactional_id if rng.random() < 0.95 else rng.choice((None, *IDS)),
            "acks": rng.choice((-1, -1, -1, -1, -1, 1)),
            "timeoutMs": 5000,
            "topicData": [
                {
                    "name": TOPIC,
                    "partitionData": [{"index": index, "records": self._batch(who, index)} for index in partitions],
                }
            ],
        }
        highest = 11 if self._target.release == "3.9" else 12
        return self._step("Produce", rng.choice((7, 9, highest, highest)), request)

    def _batch(self, who: Producer, partition: int) -> Step:
        """Return a batch: usually the next of its producer, or a duplicate, or one after a gap."""
        rng = self._rng
        values = [f"v{rng.randrange(1000)}" for _ in range(rng.randint(1, 3))]
        if rng.random() < 0.06:
            return {"values": values}
        key = (who.producer_id, who.epoch, partition)
        sent = self._sent.setdefault(key, [])
        following = sum(len(batch["values"]) for batch in sent)
        if sent and rng.random() < 0.15:
            return rng.choice(sent[-6:])  # A partition keeps five batches.
        sequence = rng.choice((following,) * 14 + (following + 3, 0, max(0, following - 1)))
        transactional = who.transactional_id is not None and rng.random() < 0.95
        batch = {
            "producerId": who.producer_id,
            "producerEpoch": who.epoch,
            "baseSequence": sequence,
            "transactional": transactional,
            "values": values,
        }
        if sequence == following:
            sent.append(batch)
        return batch

    def _add_offsets(self) -> Step:
        request = self._of_transactions().named() | {"groupId": GROUP}
        return self._step("AddOffsetsToTxn", self._rng.randint(1, 3), request)

    def _commit_offsets(self) -> Step:
        rng = self._rng
        who = self._of_transactions().named()
        partition = {"partitionIndex": rng.choice((0, 1)), "committedOffset": rng.randrange(100)}
        request = who | {"groupId": GROUP, "topics": [{"name": TOPIC, "partitions": [partition]}]}
        if rng.random() < 0.1:
            request |= {"generationId": rng.choice((0, 3)), "memberId": rng.choice(("", "nobody"))}
            return self._step("TxnOffsetCommit", 3, request)
        highest = 3 if self._target.release == "3.9" else 5
        return self._step("TxnOffsetCommit", rng.choice((2, 3, highest)), request)

    def _end(self) -> Step:
        request = self._of_transactions().named() | {"committed": self._rng.random() < 0.6}
        highest = 4 if self._target.release == "3.9" else 5
        return self._step("EndTxn", self._rng.choice((3, highest, highest)), request)

    def _write_marker(self) -> Step:
        who = self._someone()
        marker = {
            "producerId": who.producer_id,
            "producerEpoch": who.epoch,
            "transactionResult": self._rng.random() < 0.5,
            "coordinatorEpoch": self._rng.choice((0, 0, 0, 1)),
            "topics": [{"name": TOPIC, "partitionIndexes": [self._rng.choice((0, 1, 7))]}],
        }
        return self._step("WriteTxnMarkers", 1, {"markers": [marker]})

    def _delete_records(self) -> Step:
        part = {"partitionIndex": 0, "offset": self._rng.choice((-1, 0, 50))}
        return self._step("DeleteRecords", 2, {"topics": [{"name": TOPIC, "partitions": [part]}], "timeoutMs": 5000})

    def _commit_plainly(self) -> Step:
        partition = {"partitionIndex": self._rng.choice((0, 1)), "committedOffset": self._rng.randrange(100)}
        request = {"groupId": GROUP, "topics": [{"name": TOPIC, "partitions": [partition]}]}
        return self._step("OffsetCommit", 8, request)

    def _delete_offsets(self) -> Step:
        partitions = [{"partitionIndex": self._rng.choice((0, 1))}]
        return self._step("OffsetDelete", 0, {"groupId": GROUP, "topics": [{"name": TOPIC, "partitions": partitions}]})

    def _delete_group(self) -> Step:
        return self._step("DeleteGroups", 2, {"groupsNames": [GROUP]})

    def _list(self) -> Step:
        request: Step = {"producerIdFilters": [self._someone().producer_id for _ in range(2)]}
        if self._rng.random() < 0.5:
            states = ("Ongoing", "Empty", "CompleteCommit", "CompleteAbort", "Nonsense")
            request["stateFilters"] = self._rng.sample(states, 2)
        return self._step("ListTransactions", self._rng.choice((0, 1)), request)

    def _look(self) -> Step:
        return self._rng.choice(LOOKS)

    def _let_time_pass(self) -> Step:
        return {"wait": TIMEOUT_PASSES_S}


def _hide_group_partitions(said: Any) -> None:
    """Replace the partition of a group's offsets, which follows from its name and differs between runs."""
    for state in said["transactionStates"]:
        for topic in state["topics"]:
            if topic["topic"] == "__consumer_offsets":
                topic["partitions"] = "<any>"


def _offsets(stable: bool) -> Step:
    return {"groupId": GROUP, "topics": [{"name": TOPIC, "partitionIndexes": [0, 1]}], "requireStable": stable}


def _ends(isolation: int, time: int) -> Step:
    partitions = [{"partitionIndex": index, "timestamp": time} for index in (0, 1)]
    return {"replicaId": -1, "isolationLevel": isolation, "topics": [{"name": TOPIC, "partitions": partitions}]}


def _read(partition: int, isolation: int) -> Step:
    asked = {"partition": partition, "fetchOffset": 0, "partitionMaxBytes": 1_000_000}
    return {
        "maxWaitMs": 0,
        "maxBytes": 1_000_000,
        "isolationLevel": isolation,
        "topics": [{"topic": TOPIC, "partitions": [asked]}],
    }


LOOKS: Final = (
    looking("DescribeTransactions", 0, {"transactionalIds": list(IDS)}),
    looking("DescribeProducers", 0, {"topics": [{"name": TOPIC, "partitionIndexes": [0, 1]}]}),
    *(looking("OffsetFetch", 7, _offsets(stable)) for stable in (False, True)),
    *(looking("ListOffsets", 7, _ends(isolation, time)) for isolation in (0, 1) for time in (-1, -2)),
    *(looking("Fetch", 11, _read(partition, isolation)) for partition in (0, 1) for isolation in (0, 1)),
)
