"""What is concluded of ids that coordinators do not list to this principal, or have forgotten."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from eosctl.analysis.locate import coordinator_partition
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.hang import HangStatus
from eosctl.model.verdict import Confidence
from tests.analysis.scenes import (
    AUTHORIZER,
    EVERYTHING,
    NOW_MS,
    broker,
    entry,
    gap,
    only,
    producer,
    state_topic,
    transaction,
    two_reads,
)


class TestDamagedLog:
    """A coordinator that stopped loading at a damaged record does not know the decisions behind it."""

    DAMAGE = gap(EvidenceKind.TRANSACTION_HISTORY, "__transaction_state-0", "CORRUPT_MESSAGE")

    def test_no_marker_is_written_for_a_forgotten_id(self) -> None:
        verdict = only(two_reads([producer()], gaps=(self.DAMAGE,)))
        assert (verdict.status, verdict.can_abort, verdict.can_complete) == (HangStatus.HANGING, False, False)
        assert "__transaction_state-0 fail their checksum" in verdict.abort_refusal

    def test_damage_of_another_partition_does_not_matter(self) -> None:
        topics = (two_reads([]).topics[0], state_topic((1, 1)))
        home = coordinator_partition("__transaction_state", "app", 2).partition
        for damaged in (0, 1):
            damage = replace(self.DAMAGE, subject=f"__transaction_state-{damaged}")
            verdict = only(two_reads([producer()], [transaction("CompleteAbort")], topics=topics, gaps=(damage,)))
            assert verdict.can_abort is (damaged != home)


class TestHiddenIds:
    """With an authorizer a broker leaves out ids without saying so."""

    def test_unknown_id_is_likely_and_not_aborted(self) -> None:
        verdict = only(two_reads([producer()], brokers=(broker(settings=(AUTHORIZER,)),)))
        assert verdict.confidence is Confidence.LIKELY
        assert not verdict.can_abort
        assert "authorizer" in verdict.abort_refusal

    def test_unknown_settings_count_as_an_authorizer(self) -> None:
        assert not only(two_reads([producer()], brokers=(broker(settings=()),))).can_abort

    @pytest.mark.parametrize("fields", [
        {"gaps": (gap(EvidenceKind.TRANSACTION_HISTORY, "*", "TOPIC_AUTHORIZATION_FAILED"),)},
        {"collected": EVERYTHING - {EvidenceKind.TRANSACTION_HISTORY}},
    ])  # fmt: skip
    def test_without_the_log_it_cannot_be_decided(self, fields: dict[str, Any]) -> None:
        guarded = (broker(settings=(AUTHORIZER,)),)
        verdict = only(two_reads([producer()], brokers=guarded, **fields))
        assert (verdict.status, verdict.can_abort) == (HangStatus.UNDECIDED, False)
        assert only(two_reads([producer()], **fields)).status is HangStatus.HANGING

    def test_live_id_that_only_the_log_shows_is_not_touched(self) -> None:
        history = (entry("Empty", 0), entry("Ongoing", 1))
        for brokers in ((broker(settings=(AUTHORIZER,)),), (broker(),)):
            verdict = only(two_reads([producer()], brokers=brokers, transaction_history=history))
            assert (verdict.status, verdict.can_abort) == (HangStatus.UNDECIDED, False)
            assert "may not describe the id" in verdict.explanation

    @pytest.mark.parametrize(("before_ms", "status"), [(60_000, HangStatus.HANGING), (1_000, HangStatus.UNDECIDED)])
    def test_hidden_id_is_judged_by_its_log(self, before_ms: int, status: HangStatus) -> None:
        ended = replace(entry("CompleteCommit", 3), written_at_ms=NOW_MS - before_ms)
        verdict = only(two_reads([producer()], brokers=(broker(settings=(AUTHORIZER,)),), transaction_history=(ended,)))
        assert verdict.status is status
        assert not verdict.can_abort
        if status is HangStatus.HANGING:
            assert verdict.confidence is Confidence.LIKELY

    def test_hidden_id_needs_the_whole_log(self) -> None:
        ended = replace(entry("CompleteCommit", 3), written_at_ms=NOW_MS - 60_000)
        verdict = only(
            two_reads(
                [producer()],
                brokers=(broker(settings=(AUTHORIZER,)),),
                transaction_history=(ended,),
                gaps=(gap(EvidenceKind.TRANSACTION_HISTORY, "__transaction_state-0", "NOT_LEADER_OR_FOLLOWER"),),
            )
        )
        assert verdict.status is HangStatus.UNDECIDED

    @pytest.mark.parametrize(
        ("newest", "status"), [(100, HangStatus.HANGING), (5_001, HangStatus.UNDECIDED), (5_000, HangStatus.HANGING)]
    )
    def test_hidden_id_may_be_older_than_what_was_read(self, newest: int, status: HangStatus) -> None:
        log = state_topic()
        whole = replace(log, partitions=(replace(log.partitions[0], high_watermark=newest),))
        cluster = two_reads(
            [producer()],
            brokers=(broker(settings=(AUTHORIZER,)),),
            transaction_history=(entry("Empty", newest - 1, transactional_id="other", producer_id=8),),
            gaps=(EvidenceGap(EvidenceKind.TRANSACTIONS, "any of the ids", GapReason.HIDDEN),),
        )
        topics = (*(one for one in cluster.topics if one.name != log.name), whole)
        verdict = only(replace(cluster, topics=topics))
        assert (verdict.status, verdict.can_abort) == (status, False)

    def test_id_that_moved_on_to_another_producer_id_is_not_hidden(self) -> None:
        history = (entry("CompleteAbort", 3), entry("Empty", 4, producer_id=1000))
        verdict = only(two_reads([producer()], brokers=(broker(settings=(AUTHORIZER,)),), transaction_history=history))
        assert (verdict.status, verdict.can_abort) == (HangStatus.HANGING, True)

    def test_log_that_names_the_producer_id_settles_it(self) -> None:
        history = (entry("Empty", 0), entry("Ongoing", 1), entry("PrepareAbort", 2), entry("CompleteAbort", 3),
                   entry("", 4, producer_id=-1))  # fmt: skip
        cluster = two_reads([producer()], brokers=(broker(settings=(AUTHORIZER,)),), transaction_history=history)
        assert only(cluster).can_abort

    def test_known_id_is_not_affected(self) -> None:
        cluster = two_reads([producer()], [transaction("CompleteAbort")], brokers=(broker(settings=(AUTHORIZER,)),))
        verdict = only(cluster)
        assert verdict.can_abort
        assert verdict.confidence is Confidence.CERTAIN
