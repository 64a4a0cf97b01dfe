"""Which topics each sub-topology of an observed Kafka Streams application reads and writes.

Its tasks count the records of their source and sink nodes (``TopicMetrics``, KIP-846). A changelog is not a sink: it
belongs to the sub-topology with the store.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from eosctl.model.streams_reading import StreamsReading


class ObservedInputs(NamedTuple):
    """What `reads` and `written_by` of a workload file state.

    Attributes:
        reads: The topics that are read together, in the order of the sub-topologies; a list of one, or of several.
        written_by: For topics that are written, an input of each sub-topology that writes it.
    """

    reads: tuple[tuple[str, ...], ...]
    written_by: Mapping[str, tuple[str, ...]]


def observe_inputs(
    application_id: str, readings: Iterable[StreamsReading], reads: Collection[str], writes: Collection[str]
) -> ObservedInputs:
    """Return how the topics of an application belong to its sub-topologies.

    Args:
        application_id: What the names of its changelogs begin with.
        readings: All its instances.
        reads: The topics that it read while it was observed. Those that no task counted stand alone.
        writes: The topics that it wrote. A topic that no task counted, and a single sub-topology, state no writer.
    """
    read: dict[str, set[str]] = defaultdict(set)
    written: dict[str, set[str]] = defaultdict(set)
    for reading in readings:
        for one in reading.task_topics:
            read[one.sub_topology] |= one.reads & set(reads)
            written[one.sub_topology] |= one.writes
        for store in reading.stores:
            written[store.task.rpartition("_")[0]].add(f"{application_id}-{store.store}-changelog")
    parts = {part: tuple(sorted(topics)) for part, topics in sorted(read.items()) if topics}
    alone = sorted(set(reads).difference(*parts.values()))
    inputs = (*dict.fromkeys(parts.values()), *((topic,) for topic in alone))
    if len(inputs) < 2:
        return ObservedInputs(inputs, {})
    writers = {topic: tuple(parts[part][0] for part in parts if topic in written[part]) for topic in sorted(writes)}
    return ObservedInputs(inputs, {topic: names for topic, names in writers.items() if names})
