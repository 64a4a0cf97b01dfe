"""The quorum of controllers: leader, epoch, and high watermark of the metadata log (KIP-595, KIP-996).

A voter is a follower, a candidate, or the leader. It changes roles only with a newer epoch, votes once per epoch,
persists a decision before it sends it, and votes only for a log that contains all of its own records.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Any, NamedTuple, Protocol

from eosctl.sandbox.controller.quorum_messages import (
    BEGIN_VERSION,
    END_VERSION,
    VOTE_VERSIONS,
    begin_request,
    end_request,
    partition_of,
    vote_request,
)
from eosctl.sandbox.controller.quorum_store import NO_NODE, Election, QuorumStore
from eosctl.sandbox.metadata.leader_view import NO_LEADER, LeaderView
from eosctl.sandbox.metadata.log import MetadataLog
from eosctl.sandbox.ports import BrokerConfig, Channel, Emulation
from eosctl.sandbox.runtime import NodeRuntime
from eosctl.sandbox.timing_wheel import WheelTimer
from eosctl.wire.api_keys import ApiKey

CHECK_QUORUM_FACTOR = 1.5  # A leader without fetches from a majority for this many fetch timeouts steps down (KIP-835).


class Role(Enum):
    """A voter's role in its epoch."""

    UNATTACHED = "unattached"
    FOLLOWER = "follower"
    PROSPECTIVE = "prospective"
    CANDIDATE = "candidate"
    LEADER = "leader"


class VoterProgress(NamedTuple):
    """The leader's view of a replica: fetch offset, time of the last fetch, and time of being caught up (ms)."""

    end_offset: int = -1
    last_fetch_ms: int = -1
    last_caught_up_ms: int = -1


class LeadershipListener(Protocol):
    """Receives leadership changes and commits, as Kafka's `RaftClient.Listener`."""

    def lead(self, epoch: int) -> int:
        """Start the epoch in the log; return the offset of its first record."""

    def commit(self) -> None:
        """Apply the records committed so far."""

    def resign(self) -> None:
        """Resign as leader."""


class Quorum(LeaderView):
    """A voter of the quorum."""

    def __init__(
        self,
        node_id: int,
        voters: tuple[int, ...],
        cluster_id: str,
        runtime: NodeRuntime,
        channel: Channel,
        config: BrokerConfig,
        emulation: Emulation,
        log: MetadataLog,
        store: QuorumStore,
        listener: LeadershipListener,
    ) -> None:
        super().__init__(voters)
        self.node_id = node_id
        self.cluster_id = cluster_id
        self.role = Role.UNATTACHED
        self.voted_id = NO_NODE
        self.progress: dict[int, VoterProgress] = {}
        self.on_follow: Callable[[], None] = _ignore
        self.on_lead: Callable[[], None] = _ignore
        self._runtime = runtime
        self._channel = channel
        self._config = config
        self._emulation = emulation
        self._log = log
        self._store = store
        self._listener = listener
        self._timer: WheelTimer | None = None
        self._votes: set[int] = set()
        self._epoch_start_offset = 0
        self._led_since_ms = 0

    @property
    def others(self) -> list[int]:
        """Return the other voters."""
        return [voter for voter in self.voters if voter != self.node_id]

    @property
    def majority(self) -> int:
        """Return the size of a majority."""
        return len(self.voters) // 2 + 1

    @property
    def is_leader(self) -> bool:
        """Return whether this voter is the leader of its epoch."""
        return self.role is Role.LEADER

    def start(self) -> None:
        """Load the persisted state; a quorum of one becomes leader immediately."""
        saved = self._store.load(self.voters)
        self.epoch = max(saved.epoch, self._log.last_epoch)
        self.voted_id = saved.voted_id if saved.epoch == self.epoch else NO_NODE
        if len(self.voters) == 1:
            self._start_election()
        else:
            self._await_leader(Role.UNATTACHED)

    # --- elections --------------------------------------------------------------------------------------------------

    def _await_leader(self, role: Role) -> None:
        """Wait for a leader, and start an election if none appears within the timeout."""
        was_leader, self.role = self.is_leader, role
        if was_leader:
            self._listener.resign()
        timeout_ms = self._config.get_int(
            "controller.quorum.fetch.timeout.ms" if role is Role.FOLLOWER else "controller.quorum.election.timeout.ms"
        )
        if role is not Role.FOLLOWER:
            # Randomized, so that voters do not start elections simultaneously.
            timeout_ms += self._runtime.random.randrange(timeout_ms)
        self._arm(timeout_ms, self._send_pre_votes)
        if was_leader:
            self.on_follow()

    def _send_pre_votes(self) -> None:
        """Send pre-votes, so that an isolated voter does not disturb the quorum with new epochs (KIP-996)."""
        if self._emulation.is_3_9:
            self._start_election()
            return
        self._follow(NO_LEADER, self.epoch)
        self.role = Role.PROSPECTIVE
        self._canvass(pre_vote=True)

    def _start_election(self) -> None:
        self._move_to(self.epoch + 1, NO_LEADER, self.node_id)
        self.role = Role.CANDIDATE
        self._canvass(pre_vote=False)

    def _canvass(self, *, pre_vote: bool) -> None:
        self._votes = {self.node_id}
        backoff_ms = self._runtime.random.randrange(self._config.get_int("controller.quorum.election.backoff.max.ms"))
        timeout_ms = self._config.get_int("controller.quorum.election.timeout.ms")
        self._arm(timeout_ms + backoff_ms, self._send_pre_votes)
        log, version = self._log, VOTE_VERSIONS[self._emulation.release]
        for voter in self.others:
            request = vote_request(
                self.cluster_id, voter, self.epoch, self.node_id, log.last_epoch, log.end_offset, pre_vote=pre_vote
            )
            self._send(voter, ApiKey.VOTE, version, request, partial(self._voted, voter, self.epoch, self.role))
        self._count()

    def _voted(self, voter: int, epoch: int, role: Role, response: Any | None) -> None:
        answer = self._update_leader(voter, response)
        if answer is not None and answer.vote_granted and (epoch, role) == (self.epoch, self.role):
            self._votes.add(voter)
            self._count()

    def _count(self) -> None:
        if len(self._votes) >= self.majority:
            if self.role is Role.PROSPECTIVE:
                self._start_election()
            elif self.role is Role.CANDIDATE:
                self._become_leader()

    def grants(self, candidate: int, epoch: int, last_epoch: int, end_offset: int, *, pre_vote: bool) -> bool:
        """Decide on a vote request, and persist the decision."""
        if epoch > self.epoch:
            if pre_vote and self.leader_id != NO_LEADER:
                return False
            if not pre_vote:
                self._move_to(epoch, NO_LEADER, NO_NODE)
                self._await_leader(Role.UNATTACHED)
        is_complete = (last_epoch, end_offset) >= (self._log.last_epoch, self._log.end_offset)
        if epoch < self.epoch or not is_complete or self.leader_id != NO_LEADER:
            return False
        if pre_vote:
            return True
        if self.voted_id not in (NO_NODE, candidate):
            return False
        self._move_to(self.epoch, NO_LEADER, candidate)
        self._await_leader(Role.UNATTACHED)
        return True

    def ended(self, leader_id: int, epoch: int, successors: list[int]) -> None:
        """Handle the leader's resignation: the first successor starts an election immediately, the others later."""
        if epoch < self.epoch or self.is_leader:
            return
        self.update_leader(leader_id, epoch, leader_id)
        self._move_to(epoch, NO_LEADER, self.voted_id)
        self._await_leader(Role.UNATTACHED)
        place = successors.index(self.node_id) if self.node_id in successors else len(successors)
        self._arm(place * self._config.get_int("controller.quorum.election.timeout.ms"), self._send_pre_votes)

    # --- following --------------------------------------------------------------------------------------------------

    def update_leader(self, leader_id: int, epoch: int, source: int) -> None:
        """Follow the leader of a newer epoch, or the leader of this epoch if it was unknown and announces itself.

        Other voters may still name a leader that this voter has just given up. If two voters believed each other, they
        would never elect a third.
        """
        is_news = epoch > self.epoch or (
            epoch == self.epoch and self.leader_id == NO_LEADER and leader_id == source and not self.is_leader
        )
        if is_news and leader_id != self.node_id:
            self._move_to(epoch, leader_id, self.voted_id if epoch == self.epoch else NO_NODE)
            self._await_leader(Role.UNATTACHED if leader_id == NO_LEADER else Role.FOLLOWER)

    def unreachable(self, node_id: int) -> None:
        """Keep a leader that does not respond until the fetch timeout expires."""

    def fetched(self) -> None:
        """Record a successful fetch from the leader."""
        if self.role is Role.FOLLOWER:
            self._arm(self._config.get_int("controller.quorum.fetch.timeout.ms"), self._send_pre_votes)

    # --- leading ----------------------------------------------------------------------------------------------------

    def _become_leader(self) -> None:
        self.role = Role.LEADER
        self._move_to(self.epoch, self.node_id, self.voted_id)
        self._led_since_ms = self._runtime.now_ms()
        self.progress.clear()
        if self._timer is not None:
            self._timer.cancel()
        self.on_lead()
        self._epoch_start_offset = self._listener.lead(self.epoch)
        self._listener.commit()
        if self.others:
            self._announce()
            self._check_quorum()

    def _announce(self) -> None:
        """Send BeginQuorumEpoch to voters that do not fetch yet, until they do."""
        if not self.is_leader:
            return
        half_ms = self._config.get_int("controller.quorum.fetch.timeout.ms") / 2
        now_ms = self._runtime.now_ms()
        for voter in self.others:
            if now_ms - self.progress.get(voter, VoterProgress()).last_fetch_ms > half_ms:
                request = begin_request(self.cluster_id, voter, self.node_id, self.epoch)
                self._send(
                    voter, ApiKey.BEGIN_QUORUM_EPOCH, BEGIN_VERSION, request, partial(self._update_leader, voter)
                )
        self._runtime.call_later(half_ms, partial(self._while_leading, self.epoch, self._announce))

    def _check_quorum(self) -> None:
        """Step down if no majority fetches, since another leader may have been elected."""
        limit_ms = self._config.get_int("controller.quorum.fetch.timeout.ms") * CHECK_QUORUM_FACTOR
        now_ms = self._runtime.now_ms()
        active = [
            voter
            for voter in self.others
            if now_ms - max(self._led_since_ms, self.progress.get(voter, VoterProgress()).last_fetch_ms) <= limit_ms
        ]
        if len(active) + 1 < self.majority:
            self._move_to(self.epoch, NO_LEADER, self.node_id)
            self._await_leader(Role.UNATTACHED)
        else:
            self._runtime.call_later(limit_ms / 4, partial(self._while_leading, self.epoch, self._check_quorum))

    def _while_leading(self, epoch: int, call: Callable[[], None]) -> None:
        if self.is_leader and self.epoch == epoch:
            call()

    def note_fetch(self, replica_id: int, offset: int) -> None:
        """Record that a voter or observer has all records below `offset`."""
        now_ms = self._runtime.now_ms()
        caught_up = now_ms if offset >= self._log.end_offset else self.progress_of(replica_id).last_caught_up_ms
        self.progress[replica_id] = VoterProgress(offset, now_ms, caught_up)
        if replica_id in self.voters:
            self._listener.commit()

    def record_snapshot_fetch(self, replica_id: int) -> None:
        """Record that a replica fetches a snapshot: it is alive, and its offset is unchanged."""
        known = self.progress.get(replica_id)
        if known is not None or replica_id in self.others:
            self.progress[replica_id] = (known or VoterProgress())._replace(last_fetch_ms=self._runtime.now_ms())

    def progress_of(self, replica_id: int) -> VoterProgress:
        """Return the progress of a replica; this one is always caught up."""
        if replica_id == self.node_id:
            now_ms = self._runtime.now_ms()
            return VoterProgress(self._log.end_offset, now_ms, now_ms)
        return self.progress.get(replica_id, VoterProgress())

    def committed_offset(self) -> int:
        """Return the offset that a majority has reached, once it lies in this leader's own epoch."""
        ends = sorted((self.progress_of(voter).end_offset for voter in self.voters), reverse=True)
        end = ends[self.majority - 1]
        return end if end > self._epoch_start_offset else self._log.high_watermark

    def step_down(self) -> None:
        """Resign before a shutdown; list the other voters by their progress."""
        if not self.is_leader:
            return
        successors = sorted(self.others, key=lambda voter: -self.progress_of(voter).end_offset)
        for voter in self.others:
            request = end_request(self.cluster_id, self.node_id, self.epoch, successors)
            self._send(voter, ApiKey.END_QUORUM_EPOCH, END_VERSION, request, _ignore)

    # --- small parts ------------------------------------------------------------------------------------------------

    def _move_to(self, epoch: int, leader_id: int, voted_id: int) -> None:
        if (epoch, leader_id, voted_id) != (self.epoch, self.leader_id, self.voted_id):
            self._store.save(Election(epoch, leader_id, voted_id), self.voters)
        self.voted_id = voted_id
        self._follow(leader_id, epoch)

    def _update_leader(self, voter: int, response: Any | None) -> Any | None:
        """Update the leader from another voter's response; return the partition of the metadata log in it."""
        answer = partition_of(response)
        if answer is not None:
            self.update_leader(answer.leader_id, answer.leader_epoch, voter)
        return answer

    def _send(self, voter: int, api_key: int, version: int, request: Any, done: Callable[[Any], Any]) -> None:
        timeout_ms = self._config.get_int("controller.quorum.request.timeout.ms")
        self._channel.send(voter, api_key, version, request, done, timeout_ms=timeout_ms)

    def _arm(self, delay_ms: float, call: Callable[[], None]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._runtime.call_later(delay_ms, call)


def _ignore(*_: Any) -> None:
    """Do nothing."""
