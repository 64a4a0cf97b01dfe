"""Random groups: members join, leave, return under old names, and commit offsets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from scripts.transcript_runner.improvised import TOPIC, Improviser, Makers, Step, looking

GROUP: Final = "group-$run"
#: A subscription to the topic `test`, and the same with an owned partition, as classic consumers send them.
SUBSCRIPTIONS: Final = ("000000000001000474657374ffffffff", "000100000001000474657374ffffffff00000000")
LONG_MS: Final = 60_000
#: Maximum wait for a response that may depend on other members.
MOMENT_S: Final = 0.1


def offset_looks(version: int) -> tuple[Step, ...]:
    """Return the queries of a group's offsets."""
    topics = [{"name": TOPIC, "partitionIndexes": [0, 1]}]
    return tuple(
        looking("OffsetFetch", version, {"groupId": GROUP, "topics": topics, "requireStable": stable})
        for stable in (False, True)
    )


class ClassicGroups(Improviser):
    """A group of the classic protocol with static and dynamic members."""

    area = "improvised-classic-groups"

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._members: list[tuple[str, str | None]] = []
        self._generation = 0
        self._joins = 0
        self._waiting: dict[str, Step] = {}

    def makers(self) -> Makers:
        """Return the possible requests, with their weights."""
        return {
            self._join: 9,
            self._sync: 7,
            self._heartbeat: 4,
            self._leave: 2.5,
            self._commit: 3,
            self._commit_in_transaction: 1,
            self._delete_offsets: 1,
            self._delete_group: 0.7,
            self._look: 2,
        }

    def closing(self) -> Sequence[Step]:
        """Return the queries whose responses show the final state."""
        return (looking("DescribeGroups", 5, {"groups": [GROUP]}), *offset_looks(7))

    def learn(self, step: Step, answer: Any) -> None:
        """Record each member's names, including old ones."""
        if step.get("api") == "DescribeGroups" and isinstance(answer, dict):
            for member in answer["groups"][0]["members"]:
                member["clientHost"] = "<any>"  # The client's address is not part of the group rules.
        if step.get("api") != "JoinGroup" or not isinstance(answer, dict):
            return
        if answer["memberId"]:
            who = answer["memberId"], step["request"].get("groupInstanceId")
            self._members = [member for member in self._members if member != who] + [who]
        self._generation = max(self._generation, answer["generationId"])

    def settle(self, step: Step) -> None:
        """Receive the responses that no longer wait for other members."""
        if "start" in step:
            self._waiting[step["start"]] = step
        if self._waiting:
            self._play({"wait": MOMENT_S})
        for name, asked in list(self._waiting.items()):
            if self._started[name][1].is_over:
                del self._waiting[name]
                self._play({"await": name, "api": asked["api"], "request": asked["request"]})

    # --- what is said -------------------------------------------------------------------------------------------

    def _someone(self) -> tuple[str, str | None]:
        chance = self._rng.random()
        if not self._members or chance < 0.04:
            return "nobody", None
        member, instance = self._members[-1] if chance < 0.4 else self._rng.choice(self._members)
        return member, self._rng.choice((None, "i1", "i2")) if chance > 0.95 else instance

    def _a_generation(self) -> int:
        return self._rng.choice((self._generation,) * 8 + (self._generation - 1, self._generation + 1, -1))

    def _waiting_step(self, api: str, version: int, request: Step) -> Step:
        """Return a step on a separate connection, whose response may have to wait."""
        self._joins += 1
        return {"client": f"J{self._joins}", "api": api, "version": version, "request": request} | {
            "start": f"w{self._joins}"
        }

    def _join(self) -> Step:
        rng = self._rng
        new = not self._members or rng.random() < 0.35
        member, instance = ("", rng.choice((None, None, "i1", "i2"))) if new else self._someone()
        if rng.random() < 0.05:
            member = ""
        lists = [["range"], ["range"], ["range", "roundrobin"], ["sticky"], []]
        if self._target.release != "3.9":  # The winner of a tie depends on Scala's hash tables.
            lists.append(["roundrobin", "range"])
        names = rng.choice(lists)
        request: Step = {
            "groupId": GROUP if rng.random() < 0.98 else "",
            "sessionTimeoutMs": rng.choice((LONG_MS,) * 12 + (1,)),
            "rebalanceTimeoutMs": LONG_MS,
            "memberId": member,
            "protocolType": rng.choice(("consumer",) * 15 + ("connect", "")),
            "protocols": [{"name": name, "metadata": rng.choice(SUBSCRIPTIONS)} for name in names],
        }
        version = rng.choice((2, 3, 4, 5, 7, 9))
        if instance is not None:
            version = max(version, 5)
            request["groupInstanceId"] = instance
        return self._waiting_step("JoinGroup", version, request)

    def _sync(self) -> Step:
        rng = self._rng
        member, instance = self._someone()
        others = [name for name, _ in self._members]
        given = rng.choice(([], [], others))
        request: Step = {
            "groupId": GROUP,
            "generationId": self._a_generation(),
            "memberId": member,
            "assignments": [{"memberId": name, "assignment": f"{number:04x}"} for number, name in enumerate(given)],
        }
        version = rng.choice((2, 3, 5))
        if instance is not None:
            version = max(version, 3)
            request["groupInstanceId"] = instance
        if version == 5:
            request |= {
                "protocolType": rng.choice(("consumer",) * 6 + ("connect", None)),
                "protocolName": rng.choice(("range",) * 6 + ("roundrobin", None)),
            }
        return self._waiting_step("SyncGroup", version, request)

    def _identified(self, member: str, instance: str | None) -> Step:
        return {"memberId": member} if instance is None else {"memberId": member, "groupInstanceId": instance}

    def _heartbeat(self) -> Step:
        request = {"groupId": GROUP, "generationId": self._a_generation()} | self._identified(*self._someone())
        return self._step("Heartbeat", self._rng.choice((3, 4)), request)

    def _leave(self) -> Step:
        member, instance = self._someone()
        if self._rng.random() < 0.3:
            return self._step("LeaveGroup", 2, {"groupId": GROUP, "memberId": member})
        who = self._identified("" if instance and self._rng.random() < 0.5 else member, instance)
        both = [who, self._identified(*self._someone())] if self._rng.random() < 0.3 else [who]
        if len(both) == 2 and both[0] == both[1]:
            both.pop()
        return self._step("LeaveGroup", self._rng.choice((3, 4, 5)), {"groupId": GROUP, "members": both})

    def _offsets(self) -> list[Step]:
        partition = {
            "partitionIndex": self._rng.choice((0, 1, 0, 1, 0, 1, 7)),
            "committedOffset": self._rng.randrange(100),
            "committedLeaderEpoch": self._rng.choice((-1, 0)),
            "committedMetadata": self._rng.choice(("", "m")),
        }
        return [{"name": TOPIC, "partitions": [partition]}]

    def _commit(self) -> Step:
        who = self._identified(*self._someone()) if self._rng.random() < 0.8 else {"memberId": ""}
        request: Step = {"groupId": GROUP, "topics": self._offsets()} | who
        request["generationIdOrMemberEpoch"] = self._a_generation()
        return self._step("OffsetCommit", self._rng.choice((7, 8)), request)

    def _commit_in_transaction(self) -> Step:
        """Return a commit of a producer without a transaction, for which the member is checked last."""
        who = self._identified(*self._someone())
        request: Step = {"transactionalId": "app-$run", "groupId": GROUP, "producerId": 4242, "producerEpoch": 0} | who
        request |= {"generationId": self._a_generation(), "topics": self._offsets()}
        return self._step("TxnOffsetCommit", 3, request)

    def _delete_offsets(self) -> Step:
        partitions = [{"partitionIndex": index} for index in self._rng.choice(([0], [1], [0, 7]))]
        return self._step("OffsetDelete", 0, {"groupId": GROUP, "topics": [{"name": TOPIC, "partitions": partitions}]})

    def _delete_group(self) -> Step:
        return self._step("DeleteGroups", 2, {"groupsNames": [GROUP]})

    def _look(self) -> Step:
        return self._rng.choice(list(self.closing()))
