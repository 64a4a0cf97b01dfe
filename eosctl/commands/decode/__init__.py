"""``eosctl decode``."""

from eosctl.commands.lazy import Entry

COMMANDS = (
    Entry(
        "segment",
        "decode.segment:decode_segment",
        "Decode .log files: batches, and with --records their records; or a topic of a cluster, with --topic.",
    ),
    Entry(
        "index", "decode.files:decode_index", "Decode offset indexes (.index): the offset and position of every entry."
    ),
    Entry(
        "time-index",
        "decode.files:decode_time_index",
        "Decode time indexes (.timeindex): the timestamp and offset of every entry.",
    ),
    Entry(
        "txn-index",
        "decode.files:decode_txn_index",
        "Decode transaction indexes (.txnindex): the aborted transactions whose marker lies in the segment.",
    ),
    Entry(
        "producer-snapshot",
        "decode.files:decode_producer_snapshot",
        "Decode producer snapshots (.snapshot): what a partition knew of its producers at an offset.",
    ),
    Entry(
        "checkpoint",
        "decode.files:decode_checkpoint",
        "Decode checkpoints: leader epochs, high watermarks, recovery points, log starts, cleaner's.",
    ),
    Entry(
        "txn-log",
        "decode.topics:decode_txn_log",
        "Decode the transaction state log: give the directories of `__transaction_state`, or one above them.",
    ),
    Entry(
        "offsets",
        "decode.topics:decode_offsets",
        "Decode `__consumer_offsets`: committed, pending and aborted offsets, tombstones, and groups with members.",
    ),
    Entry(
        "metadata-log",
        "decode.topics:decode_metadata_log",
        "Decode the KRaft metadata log: topics, partitions, features, producer id blocks, brokers, settings.",
    ),
    Entry(
        "state-dir",
        "decode.files:decode_state_dir",
        "Decode state directories of Kafka Streams: who holds them, tasks, stores, checkpointed changelog offsets.",
    ),
)
