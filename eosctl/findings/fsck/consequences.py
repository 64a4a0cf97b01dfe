"""Give the consequences of each kind of finding: for readers, at the broker's next start, and for the repair.

What brokers do is Kafka 3.9 and 4.3: LogLoader, LogSegment.recover, ProducerStateManager, CheckpointFile, LogManager.
After a clean shutdown, only index files are checked; segments are read again after a crash, from the recovery
point on.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Consequence(NamedTuple):
    """What a kind of finding means.

    Attributes:
        effect: For readers and producers.
        on_restart: What the broker does about it when it starts again.
        repair: What a person should do, in safe steps.
    """

    effect: str
    on_restart: str
    repair: str


_REPLICA: Final = (
    "If another replica of the partition is whole: stop this broker, move the partition's directory aside, start it; "
    "it copies the partition from the leader. If this is the only copy, save the directory first."
)
_REBUILT: Final = "Stop the broker, move this file aside, start it: the file is built anew from the log."
_CUT: Final = (
    "After a crash the broker reads the segments behind the recovery point and cuts the log here, with everything "
    "behind it; after an orderly shutdown it notices nothing until the batch is read."
)
_DAMAGED_LOG: Final = Consequence(
    "Consumers and followers that reach the place fail, and read nothing behind it.", _CUT, _REPLICA
)
_INDEX: Final = Consequence(
    "Lookups by offset or time may start at a wrong place.",
    "The size and the last entry are checked, and the index is rebuilt when they are wrong; entries in the middle are "
    "believed.",
    _REBUILT,
)
_TXN_INDEX: Final = Consequence(
    "Readers of committed data get the wrong aborted transactions: they may see records that were aborted.",
    "The index is believed as it is, unless the segment is recovered after a crash; then it is rebuilt.",
    "Stop the broker, move the segment's .txnindex, .index and .timeindex aside, start it: a segment without its "
    "offset index is read again, and all three are rebuilt. Check again afterwards.",
)
_SNAPSHOT: Final = Consequence(
    "After a restart the broker may refuse or wrongly accept batches, or take an open transaction for none.",
    "A snapshot that can be read is believed; one that cannot is deleted, and the one before it and the log are used.",
    "Stop the broker, move the snapshot aside, start it: the state is rebuilt from an older snapshot and the log.",
)
_BAD_SNAPSHOT: Final = Consequence(
    "None while the broker runs.",
    "The snapshot is deleted; producer state comes from the one before it and the log.",
    "Nothing needs to be done. The file may be moved aside while the broker is stopped.",
)
_CHECKPOINT: Final = Consequence(
    "The broker's idea of epochs or offsets is lost or wrong.",
    "Recovery points and log starts that cannot be read count as 0, with a warning. A leader-epoch or high-watermark "
    "file that cannot be read takes the data directory offline.",
    "Stop the broker, move the file aside, start it. Leader epochs are then learnt from the segments that are "
    "recovered and from the leader.",
)
_ORPHAN: Final = Consequence(
    "Disk space.", "It is removed at start-up (a .swap log replaces the segments it was made from).", "Nothing to do."
)
_UNDECIDED: Final = Consequence(
    "Readers of committed data wait at its first offset as long as it is open.",
    "It stays open: producer state is rebuilt with it.",
    "Check again with the data directories that hold __transaction_state, or ask the cluster: eosctl txn hanging",
)

CONSEQUENCES: Final[dict[str, Consequence]] = {
    "crc-mismatch": _DAMAGED_LOG,
    "bad-length": _DAMAGED_LOG,
    "bad-magic": _DAMAGED_LOG,
    "torn-batch": Consequence(
        "The batch was not written in full; if it was acknowledged, other replicas have it.",
        "After a crash the broker cuts it off. After an orderly shutdown it stays until it is read.",
        "Nothing after a crash. Otherwise remove .kafka_cleanshutdown while the broker is stopped, so that it "
        "recovers.",
    ),
    "zero-tail": Consequence(
        "None for what is before it; nothing was written there.",
        "After a crash the broker cuts the zeros off.",
        "Nothing to do after a crash.",
    ),
    "control-record-malformed": _DAMAGED_LOG,
    "records-malformed": _DAMAGED_LOG,
    "offset-not-monotonic": Consequence(
        "Readers get records under wrong offsets, or miss some.",
        "Nothing: the offset lies outside the checksum.",
        _REPLICA,
    ),
    "offset-gap": Consequence(
        "Records that were acknowledged may be missing; readers skip the gap silently.", "Nothing.", _REPLICA
    ),
    "segment-gap": Consequence("A segment is missing: readers skip its offsets silently.", "Nothing.", _REPLICA),
    "sequence-gap": Consequence(
        "A batch of the producer is missing, or this one was changed.",
        "Nothing: sequences are checked only when a producer appends.",
        _REPLICA,
    ),
    "duplicate-batch": Consequence(
        "Records appear twice although the producer is idempotent; one that follows its transaction's marker opens a "
        "transaction that no coordinator completes.",
        "Nothing: sequences are checked only when a producer appends.",
        "Compare with the other replicas: eosctl decode segment. Consumers must drop the second copy.",
    ),
    "index-size": _INDEX,
    "index-unordered": _INDEX,
    "index-out-of-range": _INDEX,
    "index-mismatch": _INDEX,
    "timeindex-size": _INDEX,
    "timeindex-unordered": _INDEX,
    "timeindex-mismatch": _INDEX,
    "orphan-index": _ORPHAN,
    "txnindex-size": _TXN_INDEX,
    "txnindex-version": _TXN_INDEX,
    "txnindex-unordered": _TXN_INDEX,
    "txnindex-missing": _TXN_INDEX,
    "txnindex-extra": _TXN_INDEX,
    "txnindex-wrong-range": _TXN_INDEX,
    "txnindex-wrong-lso": _TXN_INDEX,
    "snapshot-version": _BAD_SNAPSHOT,
    "snapshot-crc": _BAD_SNAPSHOT,
    "snapshot-truncated": _BAD_SNAPSHOT,
    "snapshot-mismatch": _SNAPSHOT,
    "snapshot-beyond-log": Consequence(
        "None while the broker runs.",
        "Snapshots behind the log's end are deleted.",
        "Nothing to do; ask why the log is shorter than it was.",
    ),
    "changed-while-read": Consequence(
        "Unknown. A running broker deletes and replaces files.",
        "A broker refuses files that it cannot read, and directories that are not a partition's.",
        "Check again as the user that the broker runs as, or check a copy.",
    ),
    "checkpoint-malformed": _CHECKPOINT,
    "checkpoint-beyond-log": Consequence(
        "The log is shorter than it was: acknowledged records may be gone.",
        "The offset is lowered to the log's end.",
        _REPLICA,
    ),
    "leader-epoch-mismatch": Consequence(
        "Replicas may cut at a wrong offset when they compare logs after a change of leader.",
        "The file is believed as it is.",
        _REPLICA,
    ),
    "meta-properties-malformed": Consequence(
        "The cluster and the broker that the directory belongs to are unknown.",
        "The broker does not start, or takes the directory as failed.",
        "Write meta.properties anew with the cluster id and the node id of the broker's other log directories.",
    ),
    "partition-metadata-malformed": Consequence(
        "The topic id of the partition is unknown.",
        "Loading the directory fails, and the data directory goes offline.",
        "Stop the broker and write the file anew with the topic id of: kafka-topics.sh --describe",
    ),
    "orphan-cleaned": _ORPHAN,
    "orphan-swap": _ORPHAN,
    "orphan-deleted": _ORPHAN,
    "state-value-invalid": Consequence(
        "The coordinator does not know the newer states of the transactional ids in this partition.",
        "Loading the partition stops at the record, with an error in the broker's log; so at every election.",
        _REPLICA,
    ),
    "open-transaction": Consequence(
        "Readers of committed data wait at its first offset until it ends.",
        "The coordinator knows it and aborts it at its timeout.",
        "Nothing to do.",
    ),
    "open-transaction-undecided": _UNDECIDED,
    "hanging-transaction": Consequence(
        "Readers of committed data never pass its first offset; compaction stops there too.",
        "It stays open: no coordinator knows that it should end.",
        "First find out how it was decided: eosctl decode txn-log --states-of ID, and the partitions' other markers. "
        "What was committed must get a COMMIT marker: aborting it would destroy committed data. What was aborted, or "
        "never belonged to a transaction, can be aborted on the running cluster: eosctl txn abort.",
    ),
    "entry-without-data": Consequence(
        "None for readers: nothing of it is in the partition.",
        "The coordinator aborts it at its timeout and writes markers that end nothing.",
        "Nothing to do.",
    ),
    "markers-without-data": Consequence(
        "None by themselves: partitions that a transaction named and did not write to get a marker too, and markers "
        "that were sent twice stay.",
        "Nothing.",
        "Nothing to do.",
    ),
    "commit-without-data": Consequence(
        "A transaction was committed with this partition and has no record in it: they were refused and the producer "
        "committed all the same, or they are lost.",
        "Nothing.",
        "Compare with the other replicas, and ask the producer's log for failed sends at that time: eosctl logs",
    ),
    "replica-diverged": Consequence(
        "Records that only this replica has are lost when it follows a leader without them; those above the high "
        "watermark were never acknowledged with acks=all.",
        "The broker cuts its log where the leader's epochs say, and copies what the leader has.",
        "Nothing, if the offsets are above the high watermark. Otherwise an unclean election has lost records: copy "
        "this replica's segment before the broker starts, and compare with: eosctl decode segment",
    ),
    "replica-differs": Consequence(
        "Readers get other records after each change of leader.",
        "Nothing: brokers compare epochs and offsets, never contents.",
        "Find out which one is right: eosctl decode segment on each. Delete the partition's directory on a broker "
        "with a wrong one while it is stopped, one broker at a time; it copies the leader's.",
    ),
    "replica-of-another-topic": Consequence(
        "This directory and the other one belong to two topics of the same name, one of them deleted.",
        "The broker removes or renames the directory whose topic id the metadata does not know.",
        "Compare with the id in: kafka-topics.sh --describe",
    ),
    "offset-beyond-log": Consequence(
        "The group's next fetch is out of range: auto.offset.reset decides, so records are read again or passed over.",
        "Nothing: offsets are not compared with logs.",
        "Ask why the log is shorter than it was. Then set the offset: kafka-consumer-groups.sh --reset-offsets",
    ),
    "offset-pending": Consequence(
        "A consumer that starts waits (UNSTABLE_OFFSET_COMMIT) or reads from the offset before.",
        "It stays pending until a marker is written.",
        "See the finding on the producer's transaction; on a cluster: eosctl group pending",
    ),
    "internal-topic-repartitioned": Consequence(
        "Coordinators look for the ids that are astray in another partition and do not find them: groups lose their "
        "offsets, transactional ids their state, and open transactions hang.",
        "Nothing: ids are looked for where their hash points.",
        "Partitions were added to the topic, which Kafka does not support. Producers and groups must start anew; "
        "offsets can be read with eosctl decode offsets and set again.",
    ),
    "prepare-without-marker": Consequence(
        "The transaction is decided, yet its readers wait until the marker is written.",
        "The coordinator sends the marker again when it loads its log and the partition has a leader.",
        "Bring the partition's leader back; never abort a prepared transaction by hand.",
    ),
    "prepare-not-completed": Consequence(
        "The transactional id takes no new transaction until this one is completed.",
        "The coordinator sends the markers that are missing when it loads its log.",
        "Bring the leaders of its partitions back; never abort a prepared transaction by hand.",
    ),
}
"""By kind of finding; every kind that is ever reported is here."""
