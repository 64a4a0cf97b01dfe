"""A workload file to start from: every key with its meaning; what is not known yet is left as a comment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from eosctl.capacity.workload_schema import (
    API_VERSION,
    APPLICATION_KEYS,
    CLUSTER_KEYS,
    KIND,
    STREAMS_DEFAULTS,
    STREAMS_REASON,
    TOPIC_KEYS,
    UNKNOWN,
    Key,
)
from eosctl.model.workload import ApplicationKind

COMMENT_COLUMN = 46


def write_template(name: str, kind: ApplicationKind, answers: Mapping[str, str]) -> str:
    """Write a workload file with one application, its input (unless it is a producer) and its output.

    Args:
        name: The workload's name.
        kind: The application's kind.
        answers: Texts for keys, by path: ``cluster.brokers``, ``topic.partitions`` for both topics, ``application.…``.
    """
    own = STREAMS_DEFAULTS if kind is ApplicationKind.STREAMS else {}
    consumes = kind is not ApplicationKind.PRODUCER
    lines = [
        "# A workload for eosctl capacity plan. Keys behind # are assumed as shown; state them to be sure.",
        f"apiVersion: {API_VERSION}",
        f"kind: {KIND}",
        f"name: {name}",
        "cluster:",
        *_section("  ", CLUSTER_KEYS, "cluster", answers),
        "topics:",
        *(["  input:", *_section("    ", TOPIC_KEYS, "topic", answers)] if consumes else []),
        "  output:",
        *_section("    ", TOPIC_KEYS, "topic", answers, own),
        "applications:",
        "  application:",
        *_section("    ", APPLICATION_KEYS, "application", {**answers, "application.kind": kind.value}, own),
        *(["    reads: [input]"] if consumes else []),
        _commented("    writes: {output: auto}", "partitions of one transaction, or auto"),
        _commented("growth_per_year: 0 %", "rates a year from now against today"),
    ]
    return "\n".join(lines) + "\n"


def _section(
    margin: str,
    keys: Mapping[str, Key],
    path: str,
    answers: Mapping[str, str],
    own: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[str]:
    for name, key in keys.items():
        given = answers.get(f"{path}.{name}")
        if given is not None:
            yield _commented(f"{margin}{name}: {_quoted(given)}", key.about)
        elif key.assumed == UNKNOWN:
            yield _commented(f"{margin}# {name}: unknown", key.about)
        elif key.assumed is not None:
            assumed, why = (own[name], STREAMS_REASON) if name in own else (key.assumed, key.why)
            yield _commented(f"{margin}# {name}: {_quoted(assumed)}", f"{key.about} ({why})")


def _quoted(text: str) -> str:
    """Quote what YAML would take for a number with a fraction, as releases are."""
    return f'"{text}"' if text.count(".") == 1 and text.replace(".", "").isdigit() else text


def _commented(text: str, comment: str) -> str:
    return f"{text:<{COMMENT_COLUMN}}# {comment}"
