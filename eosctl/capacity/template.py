"""A workload file to start from: every key with its meaning; what is not known yet is left as a comment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from eosctl.capacity.quantities import QuantityError, parse_count, parse_duration_ms
from eosctl.capacity.workload_inputs import unread_limits
from eosctl.capacity.workload_schema import (
    API_VERSION,
    APPLICATION_KEYS,
    CLUSTER_KEYS,
    DEFAULTS_BY_KIND,
    EDITOR_HEADER,
    KIND,
    TOPIC_KEYS,
    UNKNOWN,
    Assumed,
    Key,
)
from eosctl.model.workload import ApplicationKind, Cleanup

COMMENT_COLUMN = 46
#: The keys of topics that the application writes: they have no other producers.
WRITTEN_KEYS: Final = {name: key for name, key in TOPIC_KEYS.items() if name != "writers"}
OFFSETS_KEYS: Final = {name: key for name, key in WRITTEN_KEYS.items() if name not in unread_limits(Cleanup.COMPACT)}
READING = (ApplicationKind.STREAMS, ApplicationKind.CONSUME_PROCESS_PRODUCE, ApplicationKind.FLINK)
#: Source tasks write their offsets in the transaction: to ``offset.storage.topic`` of a Connect cluster, or to the one
#: that MirrorMaker 2 names after the cluster it reads from.
OFFSETS_TOPICS = {ApplicationKind.CONNECT: "connect-offsets", ApplicationKind.MIRROR: "mm2-offsets.source.internal"}
_CONNECT_OFFSETS_ANSWERS = {
    "offsets.partitions": "25",
    "offsets.value": "100 B",
    "offsets.key": "100 B",
    "offsets.cleanup": "compact",
    "offsets.live": "1 MB",
}

#: What clusters that cannot have three copies must state, by the number of their brokers.
_FEW_BROKERS: Final[Mapping[str, Mapping[str, str]]] = {
    "1": {"cluster.replication_factor": "1", "cluster.min_insync_replicas": "1", "cluster.brokers_lost": "0"},
    "2": {"cluster.replication_factor": "2", "cluster.min_insync_replicas": "1", "cluster.brokers_lost": "1"},
}


def write_template(name: str, kind: ApplicationKind, answers: Mapping[str, str]) -> str:
    """Write a workload file with one application, its input (unless it is a producer) and its output.

    Args:
        name: The workload's name.
        kind: The application's kind.
        answers: Texts for keys, by path: ``cluster.brokers``, ``topic.partitions`` for both topics, ``application.…``.
    """
    own = DEFAULTS_BY_KIND.get(kind, {})
    answers = {**_FEW_BROKERS.get(answers.get("cluster.brokers", "").strip(), {}), **answers}
    if kind is ApplicationKind.FLINK:
        # Flink's own hour is more than brokers allow by default: such a job fails at its start.
        answers = {"application.transaction_timeout": "15 min", **answers}
    consumes = kind in READING
    application_keys = {name: key for name, key in APPLICATION_KEYS.items() if key.applies_to(kind)}
    writes = "{output: auto}"
    offsets: list[str] = []
    if (offsets_topic := OFFSETS_TOPICS.get(kind)) is not None:
        writes = f"{{output: auto, {offsets_topic}: 1}}"
        offsets = [f"  {offsets_topic}:", *_section("    ", OFFSETS_KEYS, "offsets", _offsets_answers(answers))]
    lines = [
        "# A workload for eosctl capacity plan. Keys behind # are assumed as shown; state them to be sure.",
        "# A number that is a guess can be a range: rate: {low: 5000/s, likely: 10000/s, high: 30000/s}",
        f"apiVersion: {API_VERSION}",
        f"kind: {KIND}",
        f"name: {name}",
        "cluster:",
        *_section("  ", CLUSTER_KEYS, "cluster", answers),
        "topics:",
        *(["  input:", *_section("    ", TOPIC_KEYS, "topic", answers)] if consumes else []),
        "  output:",
        *_section("    ", WRITTEN_KEYS, "topic", answers, own),
        *offsets,
        "applications:",
        "  application:",
        *_section("    ", application_keys, "application", {**answers, "application.kind": kind.value}, own),
        *(["    reads: [input]"] if consumes else []),
        _commented(f"    writes: {writes}", "partitions of a transaction that writes it, or auto"),
        *_sub_topologies(kind),
        _commented("growth_per_year: 0 %", "rates a year from now against today"),
    ]
    return EDITOR_HEADER + "\n".join(lines) + "\n"


def _sub_topologies(kind: ApplicationKind) -> Iterator[str]:
    """Yield how sub-topologies are stated."""
    if kind is ApplicationKind.STREAMS:
        yield _commented(
            "    # written_by: {output: input}", "for several sub-topologies: an input of that which writes each topic"
        )


def _offsets_answers(answers: Mapping[str, str]) -> dict[str, str]:
    """Return the answers for the offsets topic: each transaction of each task writes the offset of one source."""
    try:
        tasks = parse_count(answers["application.producers"])
        rate = 1000 * tasks / parse_duration_ms(answers["application.commit_interval"])
    except (KeyError, QuantityError, ZeroDivisionError):
        rate = 1.0
    return {**_CONNECT_OFFSETS_ANSWERS, "offsets.rate": f"{rate:g}/s"}


def _section(
    margin: str,
    keys: Mapping[str, Key],
    path: str,
    answers: Mapping[str, str],
    own: Mapping[str, Assumed] = MappingProxyType({}),
) -> Iterator[str]:
    for name, key in keys.items():
        given = answers.get(f"{path}.{name}")
        if given is not None:
            yield _commented(f"{margin}{name}: {_quoted(given)}", key.about)
        elif key.assumed == UNKNOWN:
            yield _commented(f"{margin}# {name}: unknown", key.about)
        elif key.assumed is not None:
            assumed, why = own.get(name, Assumed(key.assumed, key.why))
            yield _commented(f"{margin}# {name}: {_quoted(assumed)}", f"{key.about} ({why})")


def _quoted(text: str) -> str:
    """Quote what YAML would take for a number with a fraction, as releases are."""
    return f'"{text}"' if text.count(".") == 1 and text.replace(".", "").isdigit() else text


def _commented(text: str, comment: str) -> str:
    return f"{text:<{COMMENT_COLUMN - 1}} # {comment}"
