"""``eosctl decode``."""

from eosctl.command_line.lazy import Entry

COMMANDS = (
    Entry("segment", "decode.segment:decode_segment"),
    Entry("index", "decode.files:decode_index"),
    Entry("time-index", "decode.files:decode_time_index"),
    Entry("txn-index", "decode.files:decode_txn_index"),
    Entry("producer-snapshot", "decode.files:decode_producer_snapshot"),
    Entry("checkpoint", "decode.files:decode_checkpoint"),
    Entry("txn-log", "decode.topics:decode_txn_log"),
    Entry("offsets", "decode.topics:decode_offsets"),
    Entry("metadata-log", "decode.topics:decode_metadata_log"),
    Entry("state-dir", "decode.files:decode_state_dir"),
)
