"""Read ids out of pasted text: producers, groups, partitions, brokers, and tasks, as clients and brokers write them.

Patterns are compiled on first use, since a single name needs none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Final


class LazyPattern:
    """A pattern that is compiled on first use."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._source = (pattern, flags)

    @cached_property
    def re(self) -> re.Pattern[str]:
        """Return the compiled pattern."""
        return re.compile(*self._source)


_ID: Final = r"(?:[\"'`](?P<quoted>[^\"'`\n]{1,255})[\"'`]|(?P<value>[^\s,;\"'`<>()\[\]{}]{1,255}))"
_IS: Final = r"[\"']?\s*(?:[=:]|set to|is)?\s*[\"']?"
_UUID: Final = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_VALUES: Final = (
    (
        "transactional_id",
        LazyPattern(rf"(?i:\btransactional[ ._-]?id)(?:\"?\s*[=:]\s*|\s+(?:is\s+)?(?=[\"'`]|\S*[\d_-])){_ID}"),
    ),
    ("transactional_id", LazyPattern(rf"\[tx_id={_ID}")),
    ("transactional_id", LazyPattern(rf"(?i:\btransactionalid)\s+{_ID}(?=\s+(?:with|due|append|failed|has))")),
    ("group", LazyPattern(rf"(?i:\bgroup[ ._-]?id)(?:\"?\s*[=:]\s*){_ID}")),
    ("group", LazyPattern(rf"(?i:\b(?:consumer )?group)\s+(?=[\"'`]|\S*[\d_-]){_ID}")),
    ("group", LazyPattern(rf"(?i:\baccess group: |\bconsumer group: ){_ID}")),
    (
        "group",
        LazyPattern(rf"(?i:\bgroup) {_ID}(?= (?:transitioned|in state|in generation|has failed|became|rebalanced))"),
    ),
    # A Streams application is its own group.
    ("group", LazyPattern(rf"(?<![\w.-])(?P<value>[\w.-]{{1,200}}?)-{_UUID}-StreamThread-\d+")),
    # Connect's sinks read as the group connect-NAME.
    ("connector", LazyPattern(r"\bWorkerS(?:ink|ource)Task\{id=(?P<value>[\w.-]{1,200})-\d+\}")),
    ("producer_id", LazyPattern(rf"(?i:\bproducer[ _]?id|\bproducer|\bpid)(?:{_IS}|: ?)(?P<value>\d+)\b")),
    ("producer_id", LazyPattern(r"\bproducer_identity: id=(?P<value>\d+)")),
    ("epoch", LazyPattern(r"\bEpoch of producer \d+ .{0,80}? is (?P<value>\d+)")),
    (
        "epoch",
        LazyPattern(
            rf"(?i:(?<!coordinator )(?<!leader )(?<!controller )(?<!member )\b(?:producer)?[ _]?epoch)"
            rf"{_IS}(?P<value>\d+)"
        ),
    ),
    ("broker", LazyPattern(r"(?i:\b(?:broker|node)(?: id)?)\s*[=:]?\s*(?P<value>\d+)\b")),
    ("task", LazyPattern(r"\btasks? \[?(?P<value>\d+_\d+)\b")),
)
_PRODUCER_EPOCH: Final = LazyPattern(r"(?i)producer[ _]?epoch|producer_identity")
_NAME: Final = r"(?P<topic>(?!\d)[\w.][\w.-]{0,248}?)"
_END: Final = r"(?=$|[\s,;:.)\]}@'\"])(?!\.\d|:\d)"
_PLACES: Final = (
    # A partition is most certain where the text calls it one.
    LazyPattern(
        r"(?i:\btopic)[\"']?\s*[=: ]\s*[\"'`]?(?P<topic>[\w.][\w.-]{0,248})[\"'`]?[,;\s]+"
        r"[\"']?(?i:partition)[\"']?\s*[=: ]\s*[\"']?(?P<partition>\d+)"
    ),
    LazyPattern(rf"(?i:\b(?:topic-)?partitions?|\btp)(?:\s+|[=:]\s*)[\[(]?{_NAME}-(?P<partition>\d{{1,5}}){_END}"),
    LazyPattern(r"(?i:\bconsuming|\bpartition) (?P<topic>[\w.-]{1,249})/(?P<partition>\d{1,5})\b"),
    # sarama
    LazyPattern(r"\b(?:on|producer/leader|topic) ?/?(?P<topic>[\w.-]{1,249})/(?P<partition>\d{1,5})\b"),
    LazyPattern(r"(?<![\w.-])(?P<topic>(?!\d)[\w.][\w.-]{0,248})\[(?P<partition>\d{1,5})\](?=@)"),
    LazyPattern(rf"(?:(?i:\bon|\bfor|\bin)\s+|[\s\[(:]){_NAME}-(?P<partition>\d{{1,5}}){_END}"),
)
_TOPIC: Final = (
    LazyPattern(r"(?i:\btopics?:?) [\[(]?[\"'`](?P<value>[\w.][\w.-]{0,248})[\"'`]"),
    LazyPattern(r"(?i:\baccess topics: )\[(?P<value>[\w.-]{1,249})"),
    LazyPattern(r"\bTopic (?P<value>[\w.-]{1,249})(?= not present)"),
    LazyPattern(r"(?i:\b(?:to|from|for|on|of) topic) (?P<value>(?!partition|due|to\b|of\b)[\w.-]{2,249})"),
)
_OTHER_NAMES: Final = LazyPattern(
    r"(?i:\bclient[ ._]?id)[\"']?\s*[=:]\s*[\"']?[^\s,\]\"']+|\bstream-(?:thread|client) \[[^\]]{1,300}\]"
    r"|\bWorker\w{1,30}Task\{id=[^}]{1,250}\}|\bkafka-producer-network-thread \| \S+|\bStreamThread-\d+"
)
"""Names of clients, threads, and tasks that end like partitions."""
_NO_TOPIC: Final = frozenset(
    {
        *(
            "retrying",
            "closing",
            "closed",
            "abandoned",
            "flushing",
            "attempt",
            "retry",
            "generation",
            "thread",
            "epoch",
        ),
        *("kafka", "broker", "node", "server", "controller", "worker", "pod", "host", "replica", "instance", "leader"),
        *("consumer", "producer", "client", "coordinator", "bootstrap", "data", "task", "rdkafka", "step", "job"),
    }
)
"""Words with a number that name a state, a machine, or a client: `retrying-1`, `kafka-2`."""
_NO_ID: Final = frozenset(
    {
        *("null", "none", "is", "was", "not", "and", "or", "the", "has", "with", "for", "in", "id"),
        *("authorization", "invalid", "unknown"),
    }
)


def read_ids(text: str) -> dict[str, str]:
    """Return the ids in a text by their kind, as `PastedText.values` has them."""
    found: dict[str, str] = {}
    for name, pattern in _VALUES:
        for match in pattern.re.finditer(text):
            value = (match.groupdict().get("quoted") or match["value"]).rstrip(".:!?")
            if value and value.lower() not in _NO_ID:
                found.setdefault(name, value)
                break
    if not {"producer_id", "transactional_id"} & found.keys() and not _PRODUCER_EPOCH.re.search(text):
        found.pop("epoch", None)  # that of a leader, a controller, or the features
    if "connector" in found and "WorkerSinkTask" in text:
        found.setdefault("group", f"connect-{found['connector']}")
    ids = {value for name, value in found.items() if name in ("transactional_id", "group")}
    places = [place for place in _places(text) if f"{place[0]}-{place[1]}" not in ids]
    if places:
        # Where a coordinator keeps its state is less than what the text is about.
        topic, partition = next((place for place in places if not place[0].startswith("__")), places[0])
        found |= {"topic": topic, "partition": partition, "topic_partition": f"{topic}-{partition}"}
    elif topic := next((match["value"] for one in _TOPIC for match in one.re.finditer(text)), ""):
        found["topic"] = topic.rstrip(".")
    return found


def _places(text: str) -> Iterator[tuple[str, str]]:
    """Yield topics with partitions, the most certain first."""
    rest = _OTHER_NAMES.re.sub(" ", text)
    for pattern in _PLACES:
        found = ((match["topic"], match["partition"]) for match in pattern.re.finditer(rest))
        yield from (place for place in found if place[0].lower() not in _NO_TOPIC)
