import asyncio

import pytest
from msgspec.structs import replace

from eosctl.actions.abort import Target, plan_abort
from eosctl.actions.marker import MARKER
from eosctl.actions.protocol import Attempt, Permit, State
from eosctl.actions.request import abort_command
from eosctl.errors import AuthorizationDenied, BrokerError, EosctlError, PlanRefused, UsageError
from eosctl.findings.bootstrap import connection_words
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.hang import BlastRadius, HangCause, HangStatus, HangVerdict, OpenTransaction
from eosctl.model.snapshot import ClusterSnapshot, PartitionInfo, Topic
from eosctl.model.transaction import PartitionProducers, TopicPartition, TransactionLook
from eosctl.model.verdict import Confidence
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import describe_producers as dp
from eosctl.wire.messages import list_offsets as lo
from eosctl.wire.messages import write_txn_markers as wm

ORDERS = TopicPartition("orders", 0)


def snapshot(leader=2):
    info = PartitionInfo(ORDERS, leader, 0, (1, 2), (1, 2), (), 0, 45, 33)
    return ClusterSnapshot(0, "cluster", topics=(Topic("orders", "", False, (info,)),))


def verdict(status=HangStatus.HANGING, cause=HangCause.UNKNOWN_TO_COORDINATOR, *, can_abort=True, **transaction):
    values = {"producer_id": 9, "producer_epoch": 4, "coordinator_epoch": 7, "first_offset": 33} | transaction
    opened = OpenTransaction(partition=ORDERS, broker_id=2, last_timestamp_ms=0, **values)
    radius = BlastRadius(ORDERS, 33, 45, 12, 7, True)
    return HangVerdict(opened, status, cause, Confidence.CERTAIN, "why", blast_radius=radius, can_abort=can_abort)


def test_a_hanging_transaction_is_planned_with_leader_epochs():
    plan = plan_abort(snapshot(), [verdict()], Target(ORDERS))
    assert (plan.leader_id, plan.producer_id, plan.producer_epoch, plan.first_offset) == (2, 9, 4, 33)
    assert plan.coordinator_epoch == 7
    assert (plan.last_stable_offset, plan.invisible_offsets, plan.invisible_records) == (33, 12, 7)


def test_an_unknown_coordinator_epoch_is_written_as_zero():
    assert plan_abort(snapshot(), [verdict(coordinator_epoch=-1)], Target(ORDERS)).coordinator_epoch == 0


@pytest.mark.parametrize("status", [status for status in HangStatus if status is not HangStatus.HANGING])
@pytest.mark.parametrize("cause", list(HangCause))
def test_what_does_not_hang_is_never_aborted(status, cause):
    with pytest.raises(PlanRefused, match="nothing was changed") as refusal:
        plan_abort(snapshot(), [verdict(status, cause)], Target(ORDERS))
    assert refusal.value.why
    assert refusal.value.next_step


def test_the_printed_fence_names_the_transactional_id():
    for cause in (HangCause.WITHIN_TIMEOUT, HangCause.COORDINATOR_NOT_EXPIRING):
        known = verdict(HangStatus.OPEN, cause, transactional_id="pay ments")
        with pytest.raises(PlanRefused) as refusal:
            plan_abort(snapshot(), [known], Target(ORDERS))
        assert refusal.value.next_step.endswith("eosctl txn fence 'pay ments'")


def test_a_hanging_one_that_must_not_be_aborted_is_refused():
    with pytest.raises(PlanRefused):
        plan_abort(snapshot(), [verdict(can_abort=False)], Target(ORDERS))


def test_without_a_leader_there_is_no_plan():
    with pytest.raises(PlanRefused, match="no leader"):
        plan_abort(snapshot(leader=None), [verdict()], Target(ORDERS))


def test_several_open_transactions_must_be_distinguished():
    both = [verdict(), verdict(producer_id=10, first_offset=40)]
    with pytest.raises(UsageError, match="2 open transactions on orders-0 match") as error:
        plan_abort(snapshot(), both, Target(ORDERS))
    assert "producer id 10 from offset 40" in error.value.why
    assert plan_abort(snapshot(), both, Target(ORDERS, producer_id=10)).first_offset == 40
    assert plan_abort(snapshot(), both, Target(ORDERS, start_offset=33)).producer_id == 9
    with pytest.raises(UsageError, match="No open transaction"):
        plan_abort(snapshot(), both, Target(ORDERS, producer_id=11))


@pytest.mark.parametrize(
    ("partition", "what"),
    [
        (TopicPartition("nope", 0), "Unknown topic 'nope'"),
        (TopicPartition("orders", 7), "Unknown partition 'orders-7'"),
    ],
)
def test_what_is_not_there_is_not_called_solved(partition, what):
    with pytest.raises(UsageError, match=what) as error:
        plan_abort(snapshot(), [verdict()], Target(partition))
    assert "No transaction is open" not in str(error.value)


def test_a_silent_leader_does_not_mean_no_transaction():
    gap = EvidenceGap(EvidenceKind.PRODUCERS, "broker 2", GapReason.TIMED_OUT, detail="b2 did not answer in time.")
    silent = replace(snapshot(), gaps=(gap,))
    with pytest.raises(EosctlError, match="is not known: its leader did not answer") as error:
        plan_abort(silent, [], Target(ORDERS))
    assert error.value.exit_code == 1
    assert error.value.why == "b2 did not answer in time."
    look = TransactionLook(0, 0, (PartitionProducers(ORDERS, 2, ()),), ())
    with pytest.raises(UsageError, match="No open transaction"):
        plan_abort(replace(snapshot(), looks=(look,)), [], Target(ORDERS))


def test_the_owner_of_the_producer_id_is_warned_about():
    (warning,) = plan_abort(snapshot(), [verdict(transactional_id="app")], Target(ORDERS)).warnings
    assert "'app'" in warning


def test_the_official_command_names_the_same_transaction():
    plan = plan_abort(snapshot(), [verdict()], Target(ORDERS))
    assert abort_command(plan, connection_words("b:9092", "a b.properties")) == (
        "kafka-transactions.sh --bootstrap-server b:9092 --command-config 'a b.properties' "
        "abort --topic orders --partition 0 --start-offset 33"
    )


class Leader:
    """A leader that shows the transaction until the marker has come, and for some questions longer."""

    def __init__(self, refusal=ErrorCode.NONE, lag=0, deaf=False):
        self.refusal, self.lag, self.deaf = refusal, lag, deaf
        self.markers = []

    async def request(self, node_id, api_key, message, *, cap=None):
        assert node_id == 2
        if api_key == ApiKey.WRITE_TXN_MARKERS:
            self.markers += message.markers
            part = wm.WritableTxnMarkerPartitionResult(0, int(self.refusal))
            topic = wm.WritableTxnMarkerTopicResult("orders", [part])
            return wm.WriteTxnMarkersResponse([wm.WritableTxnMarkerResult(9, [topic])])
        if api_key == ApiKey.DESCRIBE_PRODUCERS:
            if self.markers and not self.deaf:
                self.lag -= 1
            start = 33 if self.deaf or self.lag >= 0 else -1
            part = dp.PartitionResponse(0, active_producers=[dp.ProducerState(9, 4, 1, 0, 7, start)])
            return dp.DescribeProducersResponse(topics=[dp.TopicResponse("orders", [part])])
        offset = 46 if self.lag < 0 and not self.deaf else 33
        part = lo.ListOffsetsPartitionResponse(0, offset=offset)
        return lo.ListOffsetsResponse(topics=[lo.ListOffsetsTopicResponse("orders", [part])])


def apply(leader, monkeypatch):
    monkeypatch.setattr("eosctl.actions.marker.VERIFY_PAUSE_MS", 0)
    plan = plan_abort(snapshot(), [verdict()], Target(ORDERS))

    async def write():
        permit = Permit(Attempt(plan, State.BEGUN))
        return await (await MARKER.send(leader, plan, permit))()

    return asyncio.run(write())


@pytest.mark.parametrize("lag", [0, 3])
def test_one_abort_marker_is_written_and_its_effect_awaited(lag, monkeypatch):
    leader = Leader(lag=lag)
    outcome = apply(leader, monkeypatch)
    (marker,) = leader.markers
    assert (marker.producer_id, marker.producer_epoch, marker.transaction_result) == (9, 4, False)
    assert (marker.coordinator_epoch, marker.transaction_version) == (7, 0)
    assert outcome.verified
    assert (outcome.last_stable_offset_before, outcome.last_stable_offset_after) == (33, 46)


def test_a_refused_marker_is_an_error_with_its_reason(monkeypatch):
    with pytest.raises(AuthorizationDenied, match="CLUSTER_AUTHORIZATION_FAILED"):
        apply(Leader(ErrorCode.CLUSTER_AUTHORIZATION_FAILED), monkeypatch)


@pytest.mark.parametrize("refusal", [ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION])
def test_a_marker_for_a_former_leader_is_sent_once(refusal, monkeypatch):
    leader = Leader(refusal)
    with pytest.raises(BrokerError, match="Run the command again"):
        apply(leader, monkeypatch)
    assert len(leader.markers) == 1


def test_a_transaction_that_stays_is_reported_as_not_verified(monkeypatch):
    outcome = apply(Leader(deaf=True), monkeypatch)
    assert not outcome.verified
    assert "still shows the transaction" in outcome.detail
