"""Sources and sinks of Spark's Structured Streaming, whose options stand in a job's own file.

Spark takes ``kafka.`` away from an option and hands the rest to the client that it makes (``KafkaSourceProvider``). The
other options, such as ``subscribe`` and ``checkpointLocation``, are Spark's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from eosctl.model.deployment import Client, Place, Role
from eosctl.settings.formats.tree import Branch, Leaf, flatten
from eosctl.settings.values.sources import Source, value_of

SPARK: Final = "Spark"
"""What shows that a client is one that Spark makes; ``Spark source`` or ``Spark sink``."""
_PREFIX: Final = "kafka."
_TOPICS: Final = frozenset({"subscribe", "subscribePattern", "assign"})
_OF_SOURCES: Final = _TOPICS | {
    *("startingOffsets", "startingTimestamp", "startingOffsetsByTimestamp", "endingOffsets", "endingTimestamp"),
    *("failOnDataLoss", "maxOffsetsPerTrigger", "minOffsetsPerTrigger", "minPartitions", "groupIdPrefix"),
    *("fetchOffset.numRetries", "fetchOffset.retryIntervalMs", "maxTriggerDelay", "kafkaConsumer.pollTimeoutMs"),
}
_OF_SINKS: Final = frozenset({"checkpointLocation", "topic"})
_OWN: Final = _OF_SOURCES | _OF_SINKS | {"includeHeaders"}
_SINK_WORDS: Final = ("sink", "write", "output", "target")
# KafkaSourceProvider.kafkaParamsForDriver and kafkaParamsForExecutors.
_CONSUMER: Final[Mapping[str, str | None]] = {
    "enable.auto.commit": "false",
    "auto.offset.reset": "none",
    "group.id": "spark-kafka-source-(generated)",
}


def spark_client(node: Branch, file: str, hints: tuple[str, ...]) -> Source | None:
    """Return the client that a mapping of Spark's options configures; None where it is not one.

    Args:
        node: A mapping of options, or one with ``format: kafka`` and the options in it.
        file: The file's name.
        hints: Words of the surroundings.
    """
    options = node.branch("options") if node.text("format") == "kafka" else node
    if options is None or (options is node and not any(name in _OWN for name, _ in node.entries)):
        return None
    leaves = [(name, leaf) for name, leaf in flatten(options) if isinstance(leaf, Leaf)]
    names = {name for name, _ in leaves}
    own = names & _OWN
    # An application has a topic of its own, too.
    if not any(name.startswith(_PREFIX) for name in names) or (options is node and not own - {"topic"}):
        return None
    is_source = bool(own & _OF_SOURCES)
    is_sink = not is_source and (bool(own & _OF_SINKS) or any(word in " ".join(hints) for word in _SINK_WORDS))
    values = {
        name: value_of(key, leaf, file, name)
        for key, leaf in leaves
        for name in ("topics" if key in _TOPICS else key.removeprefix(_PREFIX),)
        if key.startswith(_PREFIX) or key in _TOPICS or (key == "topic" and is_sink)
    }
    return Source(
        Place(file, options.line),
        values,
        role=Role.PRODUCER if is_sink else Role.CONSUMER,
        client=Client.JAVA,
        hints=hints,
        framework={} if is_sink else _CONSUMER,
        recognized_by=f"{SPARK} {'sink' if is_sink else 'source'}",
    )
