"""The names that log events have: their categories and fields. Generated from the catalog by `make docs`."""

from typing import Literal, TypeAlias

# fmt: off
EventCategory: TypeAlias = Literal[
    "APPLICATION_KILLED", "APPLICATION_STOP", "ASSIGNMENT_CHANGE", "AUTHENTICATION_FAILED", "AUTHZ_CLUSTER",
    "AUTHZ_GROUP", "AUTHZ_OTHER", "AUTHZ_TXN_ID", "BROKER_FENCED", "BROKER_ROLE", "BROKER_SIGNAL", "BROKER_SILENT",
    "BROKER_START", "BROKER_STOPPED", "BROKER_UNFENCED", "CALLBACK_FAILED", "CLEANER_RESET", "CLIENT_CONFIG",
    "CLIENT_FATAL", "CLIENT_GAVE_UP", "CLIENT_START", "CLIENT_STOP", "CLIENT_TXN_EXPIRED", "CLUSTER_ID_MISMATCH",
    "COMMIT_FAILED", "COMMIT_LOST", "CONCURRENT_TRANSACTIONS", "CONNECTOR_TXN_FAILURE", "CONNECT_FENCING",
    "CONNECT_LEADER_UNREACHABLE", "CONNECT_OFFSETS_NOT_FLUSHED", "CONNECT_SEND_FAILED", "CONNECT_TASK_FAILED",
    "CONNECT_TROUBLE", "CONNECT_WORKER_ENDED", "CONTROLLER_ACTIVE", "CONTROLLER_ELECTION", "CONTROLLER_FAULT",
    "CONTROLLER_LEADER", "CONTROLLER_LOST", "CONTROLLER_RESIGNED", "CONTROLLER_STALL", "CONTROLLER_UNKNOWN",
    "COORDINATOR_DISCOVERED", "COORDINATOR_LOAD", "COORDINATOR_LOAD_FAILED", "COORDINATOR_UNAVAILABLE",
    "COORDINATOR_UNLOAD", "COORDINATOR_WRITE_FAILED", "CORRUPT_RECORD", "DATA_DIR_LOCKED", "DESERIALIZATION_FAILED",
    "DISK_ERROR", "EPOCH_BUMP", "FD_EXHAUSTED", "FRAMEWORK_ROLLBACK", "GC_PAUSE", "GROUP_APPEND_FAILED",
    "GROUP_EMPTY", "GROUP_FENCED", "GROUP_TROUBLE", "HANGING_TRANSACTION_LISTED", "HANGING_TXN_HINT",
    "HOST_NOT_RESOLVED", "IDEMPOTENCE_DISABLED", "INIT_PRODUCER_ID", "INTERNAL_TOPIC_MISMATCH",
    "INTERNAL_TOPIC_NOT_CREATED", "INVALID_PID_MAPPING", "INVALID_PRODUCER_EPOCH", "INVALID_RECORD",
    "INVALID_STREAMS_CONFIG", "INVALID_TXN_STATE", "INVALID_TXN_TIMEOUT", "ISR_EXPAND", "ISR_SHRINK",
    "ISR_UPDATE_REJECTED", "JOIN_FAILED", "LEADER_ELECTION", "LEADER_NOT_ELECTED", "LOG_CLEANER_DEAD",
    "LOG_DATA_LOST", "LOG_RECOVERED", "LOG_TRUNCATION", "LOG_UNCLEANABLE", "LONG_TRANSACTION", "MEMBER_EVICTED",
    "MIXED_OFFSET_COMMITS", "NETWORK_DISCONNECT", "NODE_ID_MISMATCH", "NOT_ENOUGH_REPLICAS", "NOT_LEADER",
    "NO_COMMITTED_OFFSET", "OFFSET_OUT_OF_RANGE", "OFFSET_RESET", "OOM", "OOM_KILLED", "OPEN_TRANSACTION",
    "OUT_OF_ORDER_SEQUENCE", "POLL_TIMEOUT", "PORT_IN_USE", "PRODUCER_BUFFER_FULL", "PRODUCER_EPOCHS_EXHAUSTED",
    "PRODUCER_FENCED", "PRODUCER_ID_BLOCK_FAILED", "PRODUCER_MISUSED", "PRODUCER_STATE_LOAD", "QUORUM_STATE",
    "READER_STUCK", "READER_TRUNCATED", "REBALANCE_DONE", "REBALANCE_TRIGGER", "RECORDS_DROPPED", "RECORDS_SKIPPED",
    "RECORD_TOO_LARGE", "REGISTRATION_FAILED", "REQUEST_FAILED", "REQUEST_REFUSED", "SEQUENCE_RESET",
    "SERVER_CONFIG", "SERVER_FATAL", "SOURCE_TOPICS_MISSING", "STALE_CONTROLLER_REQUEST", "STATE_DIR_ERROR",
    "STATE_DIR_LOCKED", "STATE_DIR_TROUBLE", "STATE_DISK_FULL", "STATE_RESTORE_END", "STATE_RESTORE_START",
    "STATE_STORE_CORRUPT", "STATIC_MEMBER_FENCED", "STORAGE_ECHO", "STORAGE_ERROR", "STRAY_LOG",
    "STREAMS_PROCESSING_FAILED", "STREAMS_TASK_TROUBLE", "STREAM_CLIENT_ERROR", "STREAM_STATE",
    "STREAM_THREAD_DEATH", "TASK_CORRUPTED", "TASK_MIGRATED", "TIMEOUT_ADD_OFFSETS", "TIMEOUT_COMMIT_TXN",
    "TIMEOUT_INIT_PID", "TIMEOUT_METADATA", "TIMEOUT_OFFSETS", "TIMEOUT_OTHER", "TIMEOUT_SEND", "TLS_FAILED",
    "TRANSACTIONAL_ID_NAMED", "TXN_ABORTABLE", "TXN_ABORT_CLIENT", "TXN_COORDINATOR_FENCED", "TXN_EXPIRED",
    "TXN_LATE_COMMIT", "TXN_LOG_APPEND_FAILED", "TXN_LOG_LOAD_FAILED", "TXN_MARKER_REFUSED", "TXN_MARKER_RETRY",
    "TXN_METADATA_ERROR", "TXN_OFFSETS", "TXN_OFFSETS_REFUSED", "TXN_OFFSET_MATERIALIZE_RACE", "TXN_STATE_ERROR",
    "TXN_TIMEOUT_ABORT", "TXN_TOPIC_REPARTITIONED", "UNCLASSIFIED", "UNCLEAN_ELECTION", "UNKNOWN_PRODUCER_ID",
    "UNKNOWN_RECORD_KIND", "UNKNOWN_TOPIC", "UNSUPPORTED_VERSION", "VERIFICATION_UNAVAILABLE", "ZK_SESSION",
]

EventField: TypeAlias = Literal[
    "answer", "application_id", "broker", "candidate", "changelog", "client_id", "commit_interval_ms", "connector",
    "connector_task", "container", "controller", "controller_epoch", "coordinator", "coordinator_epoch",
    "coordinator_id", "coordinator_partition", "current_epoch", "current_sequence", "diverged_at",
    "earliest_sequence", "error", "error_state", "exceeded", "exit_code", "expected_sequence", "fenced_broker",
    "former_leader", "from_count", "from_state", "group", "group_instance_id", "held", "high_watermark",
    "isr_after", "isr_before", "kept_to", "killed", "last_sequence", "last_stable_offset", "leader", "left_open",
    "limit_bytes", "limit_setting", "load_ms", "log_dir", "marker", "max_poll_interval_ms", "max_request_bytes",
    "member", "member_client", "min_isr", "newer_layout", "open_ms", "operation", "os_error", "partition",
    "partition_index", "pause_ms", "position", "principal", "process", "producer_epoch", "producer_id",
    "rdkafka_client", "reason", "record_bytes", "refused_by_broker", "refused_by_client", "request", "restored",
    "retries", "role", "sequence", "severity", "signal", "source_offset", "source_partition", "start_offset",
    "state", "state_dir", "store", "store_dir", "stream_client", "stream_thread", "stuck_s", "task", "thrown",
    "to_count", "to_state", "took_ms", "topic", "transaction_timeout_ms", "transactional_id", "unit",
]
# fmt: on
