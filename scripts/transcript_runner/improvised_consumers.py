"""Random groups of the consumer protocol (KIP-848), with members of the classic protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from scripts.transcript_runner.improvised import TOPIC, Makers, Step, looking
from scripts.transcript_runner.improvised_groups import GROUP, LONG_MS, ClassicGroups, offset_looks

OTHER_TOPIC: Final = "other-$run"
#: Members choose their ids. Assignors use their order, so they must be the same in each run.
IDS: Final = ("member-1", "member-2", "member-3", "member-4")
#: Two of them are the same static member, started twice; a member keeps its name, as clients do.
INSTANCES: Final = {"member-2": "i1", "member-3": "i1", "member-4": "i2"}
#: Brokers notify their group coordinators of new topics after they have responded to the creator.
TOPICS_KNOWN_S: Final = 1


class ConsumerGroups(ClassicGroups):
    """A group of three members that heartbeat with valid and invalid epochs, with occasional classic members."""

    area = "improvised-consumer-groups"
    topics: ClassVar[Mapping[str, int]] = {TOPIC: 2, OTHER_TOPIC: 3}

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._epochs: dict[str, int] = {}
        self._assigned: dict[str, Any] = {}

    def opening(self) -> Sequence[Step]:
        """Return the first requests."""
        return [{"wait": TOPICS_KNOWN_S}]

    def makers(self) -> Makers:
        """Return the possible requests, with their weights."""
        return {
            self._enter: 6,
            self._beat: 12,
            self._go: 2,
            self._commit: 3,
            self._commit_in_transaction: 0.5,
            self._delete_offsets: 1,
            self._delete_group: 0.7,
            self._heartbeat: 0.5,
            self._look: 2,
        }

    def closing(self) -> Sequence[Step]:
        """Return the queries whose responses show the final state."""
        return (
            looking("ConsumerGroupDescribe", 1, {"groupIds": [GROUP]}),
            looking("DescribeGroups", 5, {"groups": [GROUP]}),
            *offset_looks(7),
        )

    def learn(self, step: Step, answer: Any) -> None:
        """Record each member's epoch and assignment."""
        super().learn(step, answer)
        if step.get("api") == "ConsumerGroupDescribe":
            for member in answer["groups"][0]["members"]:
                member["clientHost"] = "<any>"
        if step.get("api") == "ConsumerGroupHeartbeat" and answer["errorCode"] == "NONE":
            member = answer["memberId"]
            self._epochs[member] = answer["memberEpoch"]
            self._generation = max(self._generation, answer["memberEpoch"])
            self._members = [who for who in self._members if who[0] != member]
            self._members.append((member, step["request"].get("instanceId")))
            if answer["assignment"] is not None:
                self._assigned[member] = answer["assignment"]["topicPartitions"]

    def settle(self, step: Step) -> None:
        """Let the group's timers run."""
        if step.get("api") == "ConsumerGroupHeartbeat":
            self._play({"wait": 0.03})

    def _beat_of(self, request: Step) -> Step:
        return self._step("ConsumerGroupHeartbeat", self._rng.choice((0, 1, 1)), {"groupId": GROUP} | request)

    def _enter(self) -> Step:
        rng = self._rng
        request: Step = {
            "memberId": (member := rng.choice(IDS)),
            "memberEpoch": 0,
            "rebalanceTimeoutMs": LONG_MS,
            "subscribedTopicNames": rng.choice(
                ([TOPIC], [TOPIC], [TOPIC, OTHER_TOPIC], [OTHER_TOPIC], [], ["absent-$run"])
            ),
            "topicPartitions": [],
        }
        if member in INSTANCES:
            request["instanceId"] = INSTANCES[member]
        if rng.random() < 0.4:
            request["serverAssignor"] = rng.choice(("uniform", "range", "range", "bogus"))
        if rng.random() < 0.1:
            del request[rng.choice(("rebalanceTimeoutMs", "subscribedTopicNames", "topicPartitions", "memberId"))]
        return self._beat_of(request)

    def _beat(self) -> Step:
        rng = self._rng
        member = rng.choice(list(self._epochs) or list(IDS))
        epoch = self._epochs.get(member, 0)
        request: Step = {
            "memberId": member,
            "memberEpoch": rng.choice((epoch,) * 9 + (epoch - 1, epoch + 1)),
            "rebalanceTimeoutMs": rng.choice((-1, LONG_MS)),
        }
        if member in INSTANCES and rng.random() < 0.95:
            request["instanceId"] = INSTANCES[member]
        owned = self._assigned.get(member)
        if owned is not None and rng.random() < 0.6:
            request["topicPartitions"] = owned
        if rng.random() < 0.15:
            request["subscribedTopicNames"] = rng.choice(([TOPIC], [TOPIC, OTHER_TOPIC]))
        return self._beat_of(request)

    def _go(self) -> Step:
        member, instance = self._someone()
        request: Step = {"memberId": member, "memberEpoch": self._rng.choice((-1, -1, -2))}
        if instance is not None:
            request["instanceId"] = instance
        return self._beat_of(request)
