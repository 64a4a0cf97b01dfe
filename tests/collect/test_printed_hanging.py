"""What a ticket's outputs of several tools say together about an open transaction."""

from __future__ import annotations

import pytest

from eosctl.analysis.hanging import classify_open_transactions
from eosctl.collect.printed.evidence import read_printed
from eosctl.model.hang import HangStatus, HangVerdict

DAY_MS = 1_795_800_000_000
LISTED = f"""\
Topic     Partition  ProducerId  ProducerEpoch  CoordinatorEpoch  StartOffset  LastTimestamp   Duration(min)
payments  3          23001       12             4                 881244       {DAY_MS}  312
"""
GROUP = """\
GROUP    TOPIC     PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG    CONSUMER-ID  HOST       CLIENT-ID
billing  payments  3          {offset}        902211          20967  b-1-0a1b     /10.2.3.4  b-1
"""
HEADER = (
    "CoordinatorId  TransactionalId  ProducerId  ProducerEpoch  TransactionState  TransactionTimeoutMs  "
    "CurrentTransactionStartTimeMs  TransactionDurationMs  TopicPartitions"
)


def judged(*texts: str) -> HangVerdict:
    snapshot = read_printed({f"{number}.txt": text for number, text in enumerate(texts)}, now_ms=DAY_MS).snapshot
    assert snapshot is not None
    (verdict,) = classify_open_transactions(snapshot)
    return verdict


def described(started_ms: int) -> str:
    return f"{HEADER}\n2  pay-1  23001  12  Ongoing  900000  {started_ms}  5000  payments-3\n"


def test_a_described_transaction_with_the_records_is_alive() -> None:
    assert judged(LISTED, described(DAY_MS - 3_600_000)).status is not HangStatus.HANGING


def test_the_next_transaction_of_the_epoch_does_not_save_one() -> None:
    assert judged(LISTED, described(DAY_MS + 1)).status is HangStatus.HANGING


@pytest.mark.parametrize(("offset", "groups"), [(881_244, ["billing"]), (881_300, [])])
def test_a_printed_group_at_the_first_offset_is_held_up(offset: int, groups: list[str]) -> None:
    radius = judged(LISTED, GROUP.format(offset=offset)).blast_radius
    assert radius is not None
    assert [one.group_id for one in radius.groups] == groups
    assert radius.invisible_offsets == 902_211 - 881_244
