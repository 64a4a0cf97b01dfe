"""What records say by themselves about a usual verdict: by their words, and by their exceptions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from eosctl.logs.incidents.remaining.spans import ECHO_MS
from eosctl.logs.incidents.timeline.second_categories import is_outside_kafka
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.log_event import LogEvent
from eosctl.model.server_loggers import is_of_server
from eosctl.text import count_text, time_text

_LEVELS: Final = re.compile(
    r"name='(?P<feature>[\w.]{1,60})', featureLevel=(?P<level>\d{1,6})\)"
    r"[^\n]{0,80} only supports versions (?P<least>\d{1,6})-(?P<most>\d{1,6})"
)
_NONE_LEFT: Final = re.compile(
    r"run out of available brokers|NoBrokersAvailable\b|Unable to bootstrap from |waiting for a node assignment"
    r"|Timeout expired while fetching topic metadata"
)
_ENDED_WRITE: Final = re.compile(
    r"(?i:fail\w* (?:to )?(?:produc|publish|send|deliver|writ))[^\n]{0,250}(?:pipe|reset|buffer)"
)
_ZOOKEEPER: Final = "org.apache.zookeeper.server."
_TOPIC_ID: Final = re.compile(
    r"\bINCONSISTENT_TOPIC_ID\b|\bInconsistentTopicId\w*|\bUNKNOWN_TOPIC_ID\b|\bUnknownTopicId\w*"
    r"|(?i:\b(?:unknown|inconsistent) topic id\b|\berr[-_]10[03]\b)"
)
"""The names of error codes 100 and 103, and what librdkafka before 2.6 calls them."""
_OTHER_FORM: Final = re.compile(
    r"(?:Record size|Found (?:record size|invalid)|Invalid (?:record size|magic|negative header)|Invalid null header"
    r"|Incorrect declared batch size|Record batch is corrupt \(the size|crc could not be retrieved)[^\n\"]{0,120}"
)
"""What ``DefaultRecord``, ``DefaultRecordBatch``, and the readers of Kafka's files say about bytes without a form."""
_CHECKSUM: Final = re.compile(r"(?i:\bstored crc\b|\bcomputed (?:crc|checksum)|\binvalid CRC\b|checksum mismatch)")
_AT_LEADER: Final = re.compile(r"Error processing append operation on partition|batch has invalid CRC")
_WRITING: Final = re.compile(r"(?i:\bproduc|\bsend(?:ing)?\b|\bsent\b|\bwrit|\bpublish|\bdeliver|\bflush)")
_ELSEWHERE: Final = re.compile(r"(?i:\bnot[ _]?leader[ _]?(?:for|or)|\bNotLeader(?:For|Or)|\bnot the leader\b)")
_NO_LEADER: Final = re.compile(
    r"(?i:leader[ _]?not[ _]?available|leaderless|no leader|could not find the leader|listener)"
)
_COMMITS: Final = re.compile(r"(?i:\bcommit(?:s|ting)?\b[^\n]{0,60}\boffsets?\b|\boffset ?commit)")
_OF_TRANSACTION: Final = re.compile(r"(?i:transaction)")
_FULL: Final = "No space left on device"
_OF_BROKER: Final = re.compile(
    r"(?i:log ?dir|replica|\bbroker|checkpoint|segment|partition|log ?manager|kafka-logs|\bkafka\.)"
)
"""Words of a broker about its log directories."""
_GAP: Final = re.compile(r"even after seeking to offset (?P<asked>\d{1,19}) got offset (?P<got>\d{1,19}) instead")
_LISTENER: Final = "org.springframework.kafka.listener.ListenerExecutionFailedException"
_FRAMEWORKS: Final = ("org.apache.kafka.", "org.springframework.kafka.", "org.springframework.transaction.")
_SINK: Final = "WorkerSinkTask{"
_COMMIT_TIMED_OUT: Final = "Commit of offsets timed out"
_OF_CLIENTS: Final = ("org.apache.kafka.common.errors.", "org.apache.kafka.clients.")
_FENCED: Final = (".ProducerFencedException", ".InvalidProducerEpochException")
_UNSENT: Final = re.compile(
    r"Expiring \d+ record\(s\) for [^\n]{1,300} has passed since (?:batch creation plus linger time|last append)\b"
)
"""A batch that a client before Kafka 2.1 gave up in its queue (``ProducerBatch.maybeExpire``)."""
_BEFORE_2_1: Final = re.compile(
    r"has passed since last attempt plus backoff time\b|\bBatch Expired\b"
    r"|Batch containing \d+ record\(s\) expired due to timeout while requesting metadata"
)
"""The same for a batch that it had sent before, and the words of clients before Kafka 0.10.2."""
_LIBRDKAFKA: Final = re.compile(
    r"\bLocal: [A-Z][a-z]|\b_MSG_TIMED_OUT\b|\bMessageTimedOut\b|\blibrdkafka\b|\[thrd:|\brdkafka#|KafkaError\{"
    r"|\bLocal_[A-Z]\w{3,40}|\bConfluent\.Kafka\."
)
_MUST_ABORT: Final = re.compile(
    r"Current transaction failed in state|(?i:requir\w+[ _]abort(?![=: (]{1,2}false))"
    r"|(?i:\bmust be aborted\b|\bTransactionAbortable)"
)
"""The words of librdkafka and its bindings for an error after which only an abort is possible."""
_NOT_JOINED: Final = re.compile(r"Timed out waiting for join group")
_NOT_DIALED: Final = re.compile(r"\bunable to dial: (?:dial tcp:? )?(?P<reason>[^\n\"]{1,160})")
"""The words of franz-go for a request that no connection could be made for."""
AGAIN: Final = 3
"""Minimum number of records that cannot be decoded for more than a single damaged one."""
_CONSUMER_HANDLE: Final = re.compile(r"#consumer-\d")
_PRODUCER_HANDLE: Final = re.compile(r"#producer-\d")
_CONSUMER: Final = re.compile(
    r"(?i:\bconsum(?:er|ing|e)\b|\bsubscri(?:be|ption)|\bpoll(?:ing)?\b|\bheartbeat)|Consumer"
)
_PRODUCER: Final = re.compile(
    r"(?i:produc|\btransaction|\btxn|\bsequence|\bflush|\bsend(?:ing)?\b|\bpublish|\bdeliver)"
)
"""Words of programs about the client that reports a fatal error."""
FEW: Final = 10
"""Maximum number of outstanding records that no load explains: a task under load has thousands, which change."""
SAME: Final = 3
"""Minimum number of flushes that leave the same number of records, for records that do not move."""
_OUTSTANDING: Final = re.compile(r"\boutstanding (\d{1,12}) messages")
"""The words of ``WorkerSourceTask`` before Kafka 3.0."""
_USUAL_REPLICAS: Final = 3
"""The usual replication factor: an ISR of this size is as a rule complete."""
_IN_SYNC: Final = re.compile(r"current ISR (?:Set)?\(?[\[(]?(?P<nodes>\d{1,10}(?:, ?\d{1,10}){0,30})[\])]?")
ELSEWHERE_MS: Final = 60_000
INITIALIZED_MS: Final = 600_000
"""Maximum time between a timeout and an initialization of the same id that shows a working coordinator."""
"""Clients ask for new metadata within a second of such an answer."""


def does_fail_again(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe a program that fails in the same way at least ``AGAIN`` times."""
    return {} if len(events) >= AGAIN else None


def is_feature_unsupported(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe a metadata record of a feature level that the release of the server does not have."""
    found = next(filter(None, map(_LEVELS.search, _words_of(events))), None)
    return found.groupdict() if found and int(found["level"]) > int(found["most"]) else None


def is_expired_unsent(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Show that records expired before they were sent, in a client that has no delivery.timeout.ms."""
    return {} if any(map(_UNSENT.search, _words_of(events))) else None


def is_expired_before_2_1(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Show that records expired in a client before Kafka 2.1, which has no delivery.timeout.ms."""
    return {} if any(map(_BEFORE_2_1.search, _words_of(events))) else None


def is_of_librdkafka(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Show that librdkafka wrote the records: its settings and calls have other names than those of the Java client."""
    return {} if any(map(_LIBRDKAFKA.search, _words_of(events))) else None


def is_of_consumer(timeline: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Show that a fatal error of librdkafka is a consumer's: by its handle, its words, or the clients of its log."""
    texts = [" ".join((event.fields.get("rdkafka_client", ""), event.logger, event.message)) for event in events]
    if any(map(_PRODUCER_HANDLE.search, texts)):
        return None
    if any(map(_CONSUMER_HANDLE.search, texts)):
        return {}
    if any(map(_PRODUCER.search, texts)):
        return None
    if any(map(_CONSUMER.search, texts)):
        return {}
    handles = timeline.values_in_log(events[0], "rdkafka_client")
    if handles:
        return {} if all(map(_CONSUMER_HANDLE.search, handles)) else None
    first = events[0]
    begin, end = time_of(first) - ECHO_MS, time_of(first) + ECHO_MS
    return {} if timeline.log_between(first, begin, end, ("STATIC_MEMBER_FENCED",)) else None


def has_few_outstanding(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe flushes that each left a few records of a task, or always as many."""
    left = [(time_of(event), int(found[1])) for event in events if (found := _OUTSTANDING.search(event.message))]
    counts = sorted(count for _, count in left)
    if not counts or counts[0] == 0:
        return None
    is_same = len(counts) >= SAME and counts[0] == counts[-1]
    if counts[-1] > FEW and not is_same:
        return None
    first, last = left[0][0], left[-1][0]
    when = f"at {time_text(first)}" if first == last else f"from {time_text(first)} to {time_text(last)}"
    several = count_text(counts[-1], "message")
    return {
        "outstanding": several if counts[0] == counts[-1] else f"{counts[0]:,} to {several}",
        "outstanding-at": when,
    }


def is_abort_required(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Show that a client reports its transaction as one that it has to abort, so that no other call can be repeated."""
    return {} if any(map(_MUST_ABORT.search, _words_of(events))) else None


def is_not_dialed(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Show that a client of franz-go made no connection for its request, and why."""
    found = next(filter(None, map(_NOT_DIALED.search, _words_of(events))), None)
    return {"reason": found["reason"].rstrip(" .)")} if found else None


def _words_of(events: Sequence[LogEvent]) -> Iterator[str]:
    return (f"{event.message}\n{event.fields.get('thrown', '')}" for event in events)


def shown_elsewhere(timeline: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str]:
    """Return what other records show about the subject of some, for the parts of sentences that depend on it.

    A transactional id that the coordinator initialized soon after a timeout, or before it, shows that it works.
    """
    if events[0].category != "TIMEOUT_INIT_PID":
        return {}
    first, last = time_of(events[0]), time_of(events[-1])
    named = next(filter(None, map(timeline.transactional_id, events)), "")
    own = timeline.with_value("transactional_id", named, "INIT_PRODUCER_ID") if named else ()
    times = [time_of(one) for one in own if one.fields.get("producer_id", "-1") not in ("", "-1")]
    if later := [ms for ms in times if last <= ms <= last + INITIALIZED_MS]:
        return {"initialized": f"at {time_text(later[0])}"}
    before = [ms for ms in times if first - INITIALIZED_MS <= ms < first]
    return {"initialized": f"before, at {time_text(before[-1])}"} if before else {}


def is_disk_of_another_program(timeline: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe a full disk in the log of a program that is not a broker: neither its records nor these name one."""
    texts = [" ".join((event.logger, event.message)) for event in events]
    is_full = all(event.fields.get("os_error") == _FULL for event in events)
    if not is_full or any(map(_OF_BROKER.search, texts)):
        return None
    return None if any(map(is_of_server, timeline.log_with(events[0]))) else {}


def is_refused_commit(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe an error that only commits of offsets get, and not the reading of the records."""
    commits = [_COMMITS.search(event.message) and not _OF_TRANSACTION.search(event.message) for event in events]
    return {} if all(commits) else None


def is_group_not_joined(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Show that a Schema Registry waited in vain for its group, before it had to do with its topic."""
    return {} if any(map(_NOT_JOINED.search, _words_of(events))) else None


def is_ahead_of_log(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Show that a stored position is beyond the end of its partition, where nothing was removed yet."""
    return {} if any(event.fields.get("high_watermark") for event in events) else None


def is_producer_fenced(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Show that a stream thread lost its tasks because its producer was fenced, not because it left its group."""
    chains = [event.exception.chain for event in events if event.exception is not None]
    return {} if any(name.endswith(_FENCED) for chain in chains for name in chain) else None


def is_table_of_host_full(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Show that the limit is that of the whole host (ENFILE), not that of the process (EMFILE)."""
    return {} if any(event.fields.get("os_error") for event in events) else None


def is_without_broker(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe a client that gave up because no broker of its list is left, not because of a coordinator or leader."""
    texts = (f"{event.message}\n{event.fields.get('thrown', '')}" for event in events)
    return {} if any(map(_NONE_LEFT.search, texts)) else None


def do_writes_fail(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe writes of a program that failed, because their connection had ended."""
    return {} if all(_ENDED_WRITE.search(event.message) for event in events) else None


def is_of_zookeeper(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe a server of ZooKeeper, which has no log directories of partitions."""
    reasons = [reason for event in events if (reason := event.fields.get("os_error"))]
    is_own = any(event.logger.startswith(_ZOOKEEPER) for event in events)
    return {"reason": reasons[0] if reasons else ""} if is_own else None


def is_minimum_above_replicas(timeline: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe an ISR of three or more replicas, which no record shows to have lost one, below a higher minimum."""
    for event in events:
        found = _IN_SYNC.search(f"{event.message}\n{event.fields.get('thrown', '')}")
        least = event.fields.get("min_isr", "")
        if not found or not least.isdecimal():
            continue
        nodes = [node.strip() for node in found["nodes"].split(",")]
        partition = event.fields.get("partition", "")
        has_shrunk = bool(partition and timeline.with_value("partition", partition, "ISR_SHRINK"))
        if _USUAL_REPLICAS <= len(nodes) < int(least) and not has_shrunk:
            return {"isr": ", ".join(nodes), "isr-size": str(len(nodes)), "min.isr": least}
        return None
    return None


def is_led_elsewhere(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe brokers that answer for a minute only that another one leads the partition, so that it has a leader."""
    if time_of(events[-1]) - time_of(events[0]) < ELSEWHERE_MS:
        return None
    return {} if all(_ELSEWHERE.search(one.message) and not _NO_LEADER.search(one.message) for one in events) else None


def is_refused_at_write(timeline: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe batches that are damaged when they arrive at a leader, which refuses them: no stored record is."""
    return (
        {}
        if all((_AT_LEADER if _is_of_server(timeline, one) else _WRITING).search(one.message) for one in events)
        else None
    )


def is_of_other_form(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe records that no reader can take apart; a wrong checksum is reported with other words."""
    texts = [f"{event.message}\n{event.fields.get('thrown', '')}" for event in events]
    found = next(filter(None, map(_OTHER_FORM.search, texts)), None)
    return {"reason": found[0]} if found and not any(map(_CHECKSUM.search, texts)) else None


def is_of_topic_id(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe clients that name a topic by an id that is not, or no longer, the topic's (KIP-516)."""
    found = [_TOPIC_ID.search(f"{event.message}\n{event.fields.get('thrown', '')}") for event in events]
    codes = {match[0] for match in found if match}
    return {"topic-id-error": ", ".join(sorted(codes))} if all(found) else None


def _is_of_server(timeline: LogTimeline, event: LogEvent) -> bool:
    return event.application in timeline.servers()


def is_of_sink(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe sink tasks whose connector, and not Kafka, refused the commit of their offsets."""
    chains = [event.exception.chain for event in events if event.exception is not None]
    is_of_kafka = any(name.startswith(_OF_CLIENTS) for chain in chains for name in chain)
    return {} if chains and not is_of_kafka and all(_SINK in event.message for event in events) else None


def is_sink_commit_timed_out(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe sink tasks that only waited too long for the answer to a commit (``WorkerSinkTask.iteration``)."""
    return {} if all(_SINK in event.message and _COMMIT_TIMED_OUT in event.message for event in events) else None


def is_of_connector(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe a connector, and not only tasks, that a worker of Connect gave up."""
    names = sorted({name for event in events if (name := event.fields.get("connector"))})
    return {"connector": ", ".join(names)} if names else None


def is_beyond_a_gap(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe a consumer that got a record behind the offset that it asked for, which has none."""
    texts = (f"{event.message}\n{event.fields.get('thrown', '')}" for event in events)
    found = next(filter(None, map(_GAP.search, texts)), None)
    return found.groupdict() if found and int(found["got"]) > int(found["asked"]) else None


def is_of_program(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe a topic that is none of the brokers' internal ones, which have settings of their own."""
    topics = [event.fields.get("topic", "__") for event in events]
    is_of_broker = any(event.fields.get("limit_setting") for event in events)
    return None if is_of_broker or any(topic.startswith("__") for topic in topics) else {}


def is_of_listener(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe listeners of Spring whose own exceptions, and not those of Kafka's client, ended their transactions."""
    chains = [event.exception.chain for event in events if event.exception is not None]
    is_own = all(_LISTENER in chain[:-1] and not chain[-1].startswith(_FRAMEWORKS) for chain in chains)
    is_of_another_system = all(map(is_outside_kafka, events))
    return {} if len(chains) == len(events) and is_own and not is_of_another_system else None
