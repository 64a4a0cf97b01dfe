"""What follows from a fault in the same program: the kinds of its consequences, and what they mean.

A member that left its group learns so at its next commit, minutes later. A pipeline gives up records after brokers
refused them. A stream thread ends because of the error of its producer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from eosctl.logs.incidents.kinds import kinds_with
from eosctl.model.event_names import EventCategory

AFTER_MS: Final = 30_000
LATE_MS: Final = 1_800_000
"""Maximum time from a fault to a consequence that a program notices only at its next call, or after its retries."""


class Follows(NamedTuple):
    """The kinds that a consequence follows from, its sentence, and the records after which it no longer does.

    ``within_ms`` is the maximum time from the cause. Records of the consequence match ``text``, if it has one.
    ``next_step`` replaces that of the cause, if the consequence needs another one. With ``roots``, the consequence has
    one of these causes of its own, which its records only suppose, and names no record at which it happened. With
    ``at_most``, it is a guess: its confidence is not higher.
    """

    causes: frozenset[str]
    sentence: str
    over: tuple[EventCategory, ...] = ()
    within_ms: int = LATE_MS
    text: re.Pattern[str] | None = None
    next_step: str = ""
    roots: frozenset[str] = frozenset()
    at_most: float = 1


_LEFT: Final = Follows(
    frozenset({"poll_interval_exceeded", "member_evicted", "task_migrated"}),
    "what it committed at {at} was refused, so its records since the last commit are processed again.",
    ("REBALANCE_DONE",),
)
_REFUSED: Final = kinds_with("stops_writes")
IN_ERROR: Final = Follows(
    kinds_with("in_error_state"),
    "the producer was still in its error state at {at}, so its calls failed: the application had not aborted.",
    ("INIT_PRODUCER_ID", "CLIENT_START", "EPOCH_BUMP", "TXN_ABORT_CLIENT"),
    within_ms=86_400_000,
    text=re.compile(
        r"because we are in an error state|transaction manager: (?:transaction is in error state|invalid transition)"
        r"|not valid in (?:txn )?state (?:Abortable|Fatal)Error"
    ),
)
"""A producer stays in its error state until it aborts, or another one takes its place (``TransactionManager``)."""
_WITHOUT_BROKER: Final = Follows(
    frozenset({"brokers_not_reached"}),
    "a send got no metadata at {at}, because the client has no connection to a broker.",
    ("INIT_PRODUCER_ID", "REBALANCE_DONE", "SEND_RECOVERED", "TXN_RETRIED"),
)
_WITHOUT_TOPIC: Final = Follows(
    frozenset({"invalid_topic", "topic_authorization", "topic_not_found"}),
    "a send got no metadata of the topic at {at}, and failed.",
    within_ms=300_000,
)
_WITHOUT_COORDINATOR: Final = Follows(
    frozenset({"coordinator_unavailable"}),
    "what the client had asked its coordinator for timed out at {at}.",
    ("INIT_PRODUCER_ID", "REBALANCE_DONE", "TXN_RETRIED"),
    within_ms=300_000,
)
"""A client asks for its coordinator again and again, until the call of the program times out."""
_NOT_WRITABLE: Final = frozenset({"not_enough_replicas", "partition_offline", "partition_without_leader"})
"""Faults of partitions that a client retries to write until one of its own timeouts ends."""
_NOT_WRITTEN: Final = Follows(
    _NOT_WRITABLE,
    "the client gave up waiting for its writes at {at}: a transaction that they belong to is not committed.",
    ("INIT_PRODUCER_ID", "SEND_RECOVERED", "TXN_RETRIED"),
    within_ms=300_000,
)
_CONSUMER_ENDED: Final = Follows(
    kinds_with("fails_transaction") | kinds_with("waits") | kinds_with("stays") | {"transaction_timeout"},
    "the consumer of the program ended with this error at {at}, and reads nothing until it has joined its group again.",
    ("REBALANCE_DONE",),
    within_ms=5_000,
)
"""A program that consumes and produces reports the error of its producer as that of its consumer's handler."""
_RESTORED_LATE: Final = Follows(
    frozenset({"transactional_id_expired", "unknown_producer_id"}),
    "the sink could not commit the transaction that its checkpoint counts as complete at {at}: unless it was empty or "
    "had been committed before, readers never see its records.",
    within_ms=AFTER_MS,
    next_step="Stop the restarts: each one restores the same transaction, which cannot be committed any more. Start "
    "from a newer checkpoint, or give this transaction up and restore its records from the source. Keep "
    "transactional.id.expiration.ms of the brokers above the age of the savepoints that are restored.",
)
_OVER_BEFORE_COMMIT: Final = Follows(
    frozenset({"transaction_timeout"}),
    "the sink could not commit it at {at}: unless it was empty or had been committed before, readers never see its "
    "records.",
    within_ms=AFTER_MS,
)
"""A sink restores a transaction that is older than its timeout, and warns of that before it commits."""
ENDED_STREAMS: Final = Follows(
    kinds_with("ends_streams"),
    "the exception ended the Streams client at {at}, and it processes nothing until it is restarted.",
    ("INIT_PRODUCER_ID", "CLIENT_START"),
    within_ms=600_000,
    roots=frozenset({"unexplained", "poison-record"}),
)
"""A stream thread receives the error of its producer only with its next call."""
_WIPED: Final = Follows(
    frozenset({"invalid_producer_epoch", "producer_fenced", "task_migrated", "transaction_timeout"}),
    "its tasks were closed without a checkpoint, so their stores were wiped and restored at {at}.",
    within_ms=60_000,
    roots=frozenset({"unclean-stop-wipes-store"}),
)
"""A thread that is refused closes its tasks dirty: under exactly-once, their stores have no checkpoint."""
_NOT_COMMITTED: Final = Follows(
    frozenset({"send_timeout", "transaction_end_timeout", "transaction_offsets_timeout", "init_producer_id_timeout"}),
    "Streams could not commit the task, so it removed the local stores of the task at {at} and restored them from "
    "their changelogs: the task processes nothing until then.",
    within_ms=60_000,
    roots=frozenset({"store-restored-from-the-start", "store-restored-for-long"}),
)
"""A request of a task's producer that times out leaves the stores of the task ahead of its commit (KAFKA-9274)."""
NOT_FLUSHED: Final = Follows(
    _REFUSED,
    "the task could not store its offsets at {at}, because its producer's records were not written: after a restart "
    "it sends those since the last stored ones again.",
    ("SEND_RECOVERED", "INIT_PRODUCER_ID"),
)
_REFUSED_LATE: Final = Follows(
    frozenset({"transaction_timeout", "transactional_id_expired"}),
    "the producer was refused at {at}.",
    ("INIT_PRODUCER_ID", "CLIENT_START"),
    within_ms=AFTER_MS,
    at_most=0.5,
)
"""A refusal whose reason a client cannot know has the reason that its own log names just before."""
_FENCED_AFTER_TROUBLE: Final = Follows(
    (kinds_with("waits") | _NOT_WRITABLE) - {"client_gave_up"},
    "its producer was fenced at {at}: most likely the coordinator had ended its transaction at the timeout in that "
    "time, or the answer to its last request was lost. Create a new producer.",
    ("INIT_PRODUCER_ID", "CLIENT_START"),
    within_ms=90_000,
    roots=frozenset({"takeover-or-timeout"}),
    at_most=0.5,
)
"""A client whose requests have failed learns with the next answer that its transaction is over."""
_FENCED_LATER: Final = Follows(
    frozenset({"transaction_end_timeout"}),
    "the same producer was fenced at {at}, without a success in between. The coordinator had ended its transaction at "
    "the timeout, or another producer had taken the transactional.id; only the coordinator's log shows which.",
    ("CLIENT_START", "INIT_PRODUCER_ID", "TXN_ABORT_CLIENT", "TXN_COMMITTED", "TXN_RETRIED", "WORK_DONE"),
    within_ms=86_400_000,
    next_step="Create a new producer: this one is of no use any more. Find out whether the transaction was committed "
    "before its records are sent again (eosctl txn describe, or the coordinator's log). Then find why the coordinator "
    "did not end it: its broker, the leaders of the partitions, and the network at the time of the first record.",
    roots=frozenset({"duplicate-transactional-id", "takeover-or-timeout"}),
    at_most=0.5,
)
"""A client whose commit was not confirmed, and that continued to wait for it."""
_UNSTABLE: Final = Follows(
    frozenset({"offsets_unstable"}),
    "its request for offsets timed out at {at}, because a transaction still holds them.",
    ("REBALANCE_DONE",),
    within_ms=600_000,
)
FOLLOWS: Final[Mapping[str, tuple[Follows, ...]]] = {
    **dict.fromkeys(kinds_with("waits"), (_NOT_WRITTEN,)),
    "metadata_timeout": (_WITHOUT_BROKER, _WITHOUT_TOPIC, _NOT_WRITTEN),
    "consumer_ended": (_CONSUMER_ENDED,),
    **dict.fromkeys(
        ("init_producer_id_timeout", "transaction_end_timeout", "transaction_offsets_timeout"),
        (_NOT_WRITTEN, _WITHOUT_COORDINATOR),
    ),
    "consumer_offsets_timeout": (_UNSTABLE, _WITHOUT_COORDINATOR),
    "producer_fenced": (_REFUSED_LATE, _FENCED_AFTER_TROUBLE, _FENCED_LATER),
    "invalid_producer_epoch": (_REFUSED_LATE,),
    "commit_lost": (_RESTORED_LATE, _OVER_BEFORE_COMMIT),
    "connector_offsets_not_stored": (NOT_FLUSHED,),
    "task_corrupted": (_WIPED, _NOT_COMMITTED),
    **dict.fromkeys(("streams_client_failed", "streams_uncaught_exception", "stream_thread_died"), (ENDED_STREAMS,)),
    "member_fenced": (_LEFT,),
    "offset_commit_failed": (_LEFT,),
    "producer_error": (IN_ERROR,),
    "transaction_request_refused": (
        Follows(frozenset({"commit_lost"}), "the client refused to use the transaction at {at}.", within_ms=AFTER_MS),
    ),
    "records_dropped": (
        Follows(
            _REFUSED | {"producer_buffer_full"},
            "the program gave up records at {at}: they are missing from the output although their input counts as "
            "processed. Write them again from their source.",
        ),
        Follows(
            frozenset({"consumer_too_slow"}),
            "the program dropped records at {at}, because the buffer of its output was full: the output does not keep "
            "up, which also explains why the consumer waits. Write the records again from their source.",
            text=re.compile(r"(?i:\bbuffer overflow)"),
        ),
    ),
    "send_repeated": (
        Follows(
            _REFUSED,
            "the program could not write a batch at {at} and repeats it: what comes after that batch waits.",
            within_ms=600_000,
            roots=frozenset({"unexplained"}),
        ),
    ),
    "producer_buffer_full": (
        Follows(_REFUSED, "the producer's queue was full at {at}, and it refused further records."),
    ),
}
OWN_CAUSES: Final = frozenset({"duplicate-group-instance-id", "member-id-not-the-coordinators"})
"""Causes of these kinds that are faults by themselves."""
