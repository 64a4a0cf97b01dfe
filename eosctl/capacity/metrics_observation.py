"""Turn two readings of all brokers' metrics into a workload file with an equivalent plan.

Kafka counts the results of WriteTxnMarkers, Produce, and TxnOffsetCommit per partition, so the totals of markers, data
batches, and committed offsets are known. Appends, records, and bytes are counted per topic, markers included. The user
provides what metrics do not show: the number of producers, and their input topics.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import yaml

from eosctl.capacity.observation import OFFSETS_TOPIC, STATE_TOPIC, value_bytes_for
from eosctl.capacity.partial_workload import read_partial, write_partial
from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.record_sizes import BATCH_HEADER_BYTES, MARKER_BATCH_BYTES, format_release
from eosctl.capacity.workload_file import AUTO, parse_workload
from eosctl.capacity.workload_schema import API_VERSION, EDITOR_HEADER, KIND
from eosctl.errors import EosctlError, UsageError
from eosctl.model.broker_counters import BrokerCounters, TopicCounters
from eosctl.model.workload import ApplicationKind
from eosctl.text import count_text

GUESSED_ID_BYTES: Final = 49
GUESSED_GROUP_BYTES: Final = 20


class Known(NamedTuple):
    """What the user knows: how many producers there are in all, and which topics their applications read."""

    producer_count: int
    reads: tuple[str, ...] = ()


class _Counted(NamedTuple):
    """What all brokers together did in the interval, per second; `unread` are metrics that some broker did not show."""

    topics: Mapping[str, TopicCounters]
    transactions: float
    markers: float
    offsets: float
    offset_commits: float
    log_appends: float
    unread: frozenset[str] = frozenset()


#: Clients send it where transaction.version 2 is finalized (KIP-890), never elsewhere; librdkafka has no such version.
END_TXN_OF_VERSION_2: Final = 5
UNPROVEN_VERSION: Final = (
    "No client sent EndTxn 5: transaction.version 2 is not finalized, or all clients are too old for it. "
    "State kafka_version and transaction_version; a plan assumes the newest."
)
#: The effect of each metric that a broker does not show.
UNREAD: Final[Mapping[str, str]] = {
    "ErrorsPerSec": "markers are unknown, transactions are requests, retried ones included, and rates include markers",
    "TotalProduceRequestsPerSec": "batches are unknown: sizes include their headers, markers are shared by records",
    "MessagesInPerSec": "rates of topics are unknown: state them",
    "BytesInPerSec": "sizes of records are unknown: state them",
    "RequestsPerSec": "versions of clients are unknown: state kafka_version and transaction_version",
    "LogEndOffset": "partitions and copies are unknown: state them",
}


def explain_unread(after: Sequence[BrokerCounters]) -> tuple[str, ...]:
    """Return a sentence for each metric that some broker does not show, with what is not known without it."""
    found = []
    for metric, effect in UNREAD.items():
        if brokers := [broker.source for broker in after if metric in broker.unread]:
            found.append(f"{metric} is not among the metrics of {', '.join(brokers)}: {effect}.")
    return tuple(found)


def write_measured(name: str, before: Sequence[BrokerCounters], after: Sequence[BrokerCounters], known: Known) -> str:
    """Write the workload file of an interval between two readings.

    Where metrics are missing, the file has what the others show; the rest are comments.

    Args:
        name: The workload's name.
        before: A reading of every broker.
        after: A later one, of the same brokers in the same order.
        known: The values that metrics do not show.

    Raises:
        UsageError: Offsets were committed in transactions, and their topics were not given.
        EosctlError: No transaction ended, or a broker was restarted in between.
    """
    counted = _count(before, after)
    reads = _reads(counted, known)
    topics = _topics(counted, after)
    missing = [topic for topic in reads if topic not in topics]
    if missing:
        raise UsageError(
            f"Nothing was written to {', '.join(missing)} in the interval.",
            f"Written topics: {', '.join(topics) or 'none'}.",
            "Correct --reads, or watch for longer.",
        )
    document = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "name": name,
        "cluster": _cluster(counted, after),
        "topics": {topic: described for topic, (described, _) in topics.items()},
        "applications": {"all": _application(counted, known, reads, {t: m for t, (_, m) in topics.items()})},
    }
    seconds = max(1, min(b.read_at_ms - a.read_at_ms for a, b in zip(before, after, strict=True))) / 1000
    head = (
        f"# Measured by the metrics of {count_text(len(after), 'broker')} over {seconds:.1f} s; sizes are as stored.\n"
        "# All applications are taken as one. Markers are known in all, not by topic: they are shared by appends.\n"
    )
    if "RequestsPerSec" not in counted.unread and _newest(after, "EndTxn") < END_TXN_OF_VERSION_2:
        head += f"# {UNPROVEN_VERSION}\n"
    if counted.unread:
        head += "".join(f"# {sentence}\n" for sentence in explain_unread(after))
        text = head + yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
        return write_partial(name, read_partial(text, "metrics"))
    _fit_lengths(document, counted)
    head += "# The lengths of ids are those with which the internal topics get as many bytes as they got.\n"
    return EDITOR_HEADER + head + yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)


def _count(before: Sequence[BrokerCounters], after: Sequence[BrokerCounters]) -> _Counted:
    topics: dict[str, TopicCounters] = defaultdict(TopicCounters)
    outcomes: dict[str, float] = defaultdict(float)
    requests: dict[str, float] = defaultdict(float)
    for old, new in zip(before, after, strict=True):
        seconds = max(1, new.read_at_ms - old.read_at_ms) / 1000
        for topic, ended in new.topics.items():
            began = old.topics.get(topic, TopicCounters())
            grown = [(b - a) / seconds for a, b in zip(began, ended, strict=True)]
            if min(grown) < 0:
                raise EosctlError(
                    f"The counters of {new.source} went back.", "The broker was restarted meanwhile.", "Observe again."
                )
            topics[topic] = TopicCounters(*(x + y for x, y in zip(topics[topic], grown, strict=True)))
        for request, value in new.outcomes.items():
            outcomes[request] += (value - old.outcomes.get(request, 0.0)) / seconds
        for key, value in new.requests.items():
            requests[key[0]] += (value - old.requests.get(key, 0.0)) / seconds
    unread = frozenset[str]().union(*(broker.unread for broker in after))
    ended_by, committed_by = outcomes, requests
    if "ErrorsPerSec" in unread:
        ended_by = requests
    if "RequestsPerSec" in unread:
        committed_by = outcomes
    transactions, markers = ended_by["EndTxn"], outcomes["WriteTxnMarkers"]
    if not transactions or not (markers or "ErrorsPerSec" in unread):
        wanted = (
            "RequestsPerSec of EndTxn" if "ErrorsPerSec" in unread else "ErrorsPerSec of EndTxn and WriteTxnMarkers"
        )
        raise EosctlError(
            "No transaction ended in the interval.",
            f"{wanted} did not grow at any broker, or the exporter drops it.",
            "Watch for longer with --duration; give the endpoints of all brokers.",
        )
    log = topics[STATE_TOPIC]
    return _Counted(
        topics={name: found for name, found in sorted(topics.items()) if any(found)},
        transactions=transactions,
        markers=markers,
        offsets=outcomes["TxnOffsetCommit"],
        offset_commits=min(transactions, committed_by["TxnOffsetCommit"]) if ended_by["TxnOffsetCommit"] else 0.0,
        # Each of its appends has one record.
        log_appends=log.record_count if "TotalProduceRequestsPerSec" in unread else log.batch_count,
        unread=unread,
    )


def _reads(counted: _Counted, known: Known) -> tuple[str, ...]:
    if counted.offset_commits and not known.reads:
        raise UsageError(
            "Offsets are committed in these transactions, but metrics do not show their topics.",
            f"Written topics: {', '.join(t for t in counted.topics if not t.startswith('__'))}.",
            "Name the applications' input with --reads TOPIC.",
        )
    return known.reads if counted.offset_commits else ()


def _topics(counted: _Counted, after: Sequence[BrokerCounters]) -> dict[str, tuple[dict[str, Any], float]]:
    """Describe each topic, with the markers per second that are taken to be its own."""
    found = {name: traffic for name, traffic in counted.topics.items() if name not in (STATE_TOPIC, OFFSETS_TOPIC)}
    partitions = Counter(p.topic for p in {p for broker in after for p in broker.replicas})
    has_batches = "TotalProduceRequestsPerSec" not in counted.unread
    appends = {name: one.batch_count if has_batches else one.record_count for name, one in found.items()}
    total = sum(appends.values())
    described = {}
    for name, traffic in found.items():
        # Each marker ends a transaction that wrote at least one batch to the partition.
        share = max(0.0, counted.markers - counted.offset_commits) * appends[name] / total if total else 0.0
        markers = min(share, appends[name] / 2)
        described[name] = (_topic(counted, traffic, partitions[name], markers), markers)
    return described


def _topic(counted: _Counted, traffic: TopicCounters, partition_count: int, markers: float) -> dict[str, Any]:
    """Describe a topic by the metrics that were read."""
    records, unread = traffic.record_count - markers, counted.unread
    batches = 0.0 if "TotalProduceRequestsPerSec" in unread else traffic.batch_count - markers
    described: dict[str, Any] = {}
    if partition_count:
        described["partitions"] = partition_count
    if "MessagesInPerSec" in unread or records <= 0:
        return described
    described["rate"] = f"{records:.6g}/s"
    if "BytesInPerSec" not in unread:
        stored = traffic.stored_bytes - markers * MARKER_BATCH_BYTES
        described["value"] = f"{value_bytes_for((stored - BATCH_HEADER_BYTES * batches) / records)} B"
    if batches:
        described["batch_records"] = round(records / batches, 3)
    return described


def _cluster(counted: _Counted, after: Sequence[BrokerCounters]) -> dict[str, Any]:
    copies = Counter(p for broker in after for p in broker.replicas)
    described: dict[str, Any] = {"brokers": len(after)}
    if copies:
        factor = Counter(copies.values()).most_common(1)[0][0]
        described |= {"replication_factor": factor, "min_insync_replicas": min(2, factor)}
    described |= {
        "brokers_lost": min(1, len(after) - 1),
        "client_round_trip": "0 ms",
        "replication_round_trip": "0 ms",
    }
    if "RequestsPerSec" not in counted.unread:
        commits = _newest(after, "TxnOffsetCommit")
        if _newest(after, "EndTxn") >= END_TXN_OF_VERSION_2:
            described |= {"transaction_version": 2, "kafka_version": format_release(2, commits)}
    internal = Counter(p.topic for p in copies)
    for topic, key in ((STATE_TOPIC, "transaction_log_partitions"), (OFFSETS_TOPIC, "offsets_partitions")):
        if internal[topic]:
            described[key] = internal[topic]
    return described


def _newest(brokers: Sequence[BrokerCounters], request: str) -> int:
    """Return the newest version of a request that some client sent; 0 if none did, or it is not known."""
    return max((version for one in brokers for name, version in one.requests if name == request), default=0)


def _application(
    counted: _Counted, known: Known, reads: tuple[str, ...], markers: Mapping[str, float]
) -> dict[str, Any]:
    rate, unread = counted.transactions, counted.unread
    offsets = counted.offset_commits / rate
    described: dict[str, Any] = {
        "kind": str(ApplicationKind.CONSUME_PROCESS_PRODUCE if reads else ApplicationKind.PRODUCER),
        "producers": known.producer_count,
        "transactions": f"{rate:.6g}/s",
        "transactional_id": f"{GUESSED_ID_BYTES} B",
    }
    if counted.log_appends:
        described["partition_waves"] = round(max(0.0, counted.log_appends / rate - 2 - offsets), 3)
    described["writes"] = (
        dict.fromkeys(markers, AUTO)
        if "ErrorsPerSec" in unread
        else {topic: round(count / rate, 4) for topic, count in markers.items() if count > 0}
    )
    if reads:
        described["group_id"] = f"{GUESSED_GROUP_BYTES} B"
        if "ErrorsPerSec" not in unread:
            described["offsets_per_transaction"] = round(counted.offsets / counted.offset_commits, 3)
        described["reads"] = list(reads)
    return described


def _fit_lengths(document: dict[str, Any], counted: _Counted) -> None:
    """Set the lengths of ids so that the internal topics get as many bytes a second as were counted."""
    application = document["applications"]["all"]
    plan = plan_capacity(parse_workload(yaml.safe_dump(document, sort_keys=False), "what was measured"))
    planned = {topic.name: topic for topic in plan.topics}
    commits = counted.offsets if application.get("reads") else 0.0
    for topic, key, guessed, texts in (
        (STATE_TOPIC, "transactional_id", GUESSED_ID_BYTES, counted.log_appends),
        (OFFSETS_TOPIC, "group_id", GUESSED_GROUP_BYTES, commits),
    ):
        measured = counted.topics.get(topic)
        if measured is not None and texts:
            longer = (measured.stored_bytes - planned[topic].written) / texts
            application[key] = f"{max(1, round(guessed + longer))} B"
