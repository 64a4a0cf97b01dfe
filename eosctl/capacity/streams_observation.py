"""Turn two readings of all instances of Kafka Streams applications into the part of a workload that they show.

An application knows its threads, tasks, commits, topics, and stores. It does not know brokers, nor the partitions of
topics that it only writes, nor settings such as its timeout: these are marked as not observed.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from eosctl.capacity.observation import value_bytes_for
from eosctl.capacity.observed_sub_topologies import observe_inputs
from eosctl.capacity.partial_workload import Given, PartialWorkload, Section
from eosctl.errors import EosctlError
from eosctl.model.streams_reading import Carried, StreamsReading

_THREAD_ID: Final = re.compile(r"(?P<client>.+)-StreamThread-\d+")
_PROCESS_ID: Final = re.compile(r"-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_NUMBER_BYTES: Final = 2

_Pair = tuple[StreamsReading, StreamsReading]


def observe_streams(before: Sequence[StreamsReading], after: Sequence[StreamsReading]) -> PartialWorkload:
    """Return the part of a workload that instances of Kafka Streams show.

    Args:
        before: A reading of every instance.
        after: A later one, of the same instances in the same order.

    Raises:
        EosctlError: An application commits nothing or no transactions, or an instance was restarted in between.
    """
    applications: dict[str, list[_Pair]] = defaultdict(list)
    for pair in zip(before, after, strict=True):
        applications[_application_id(pair[1])].append(pair)
    topics: dict[str, Section] = {}
    described, remarks = {}, ["What an application reads is taken as the whole rate of its topics: give all instances."]
    for name, pairs in applications.items():
        own = _topics(name, pairs)
        topics = {**own, **topics}
        described[name] = _application(name, pairs, own)
        without_files = {store.store for _, one in pairs for store in one.stores if store.file_bytes is None}
        if without_files:
            remarks.append(f"{name}: stores without files are not part of state: {', '.join(sorted(without_files))}.")
        if unwritten := sorted(
            store for store, size in _file_bytes(pairs).items() if not size and store not in without_files
        ):
            remarks.append(f"{name}: stores that have no files yet are not part of state: {', '.join(unwritten)}.")
    return PartialWorkload({}, topics, described, remarks)


def _application_id(reading: StreamsReading) -> str:
    """Return the application's id, or the client id where that was set: thread ids begin with it."""
    match = _THREAD_ID.fullmatch(min(reading.threads))
    client = match["client"] if match else min(reading.threads)
    return _PROCESS_ID.sub("", client)


def _seconds(pair: _Pair) -> float:
    return max(1, pair[1].read_at_ms - pair[0].read_at_ms) / 1000


def _grown(pair: _Pair, old: float, new: float) -> float:
    """Return the growth of a counter per second."""
    if new < old:
        raise EosctlError(
            f"The counters of {pair[1].source} went back.",
            "A thread or the instance was restarted meanwhile.",
            "Observe again.",
        )
    return (new - old) / _seconds(pair)


def _application(name: str, pairs: Sequence[_Pair], topics: Mapping[str, Section]) -> Section:
    commits = sum(_grown(pair, pair[0].commit_count, pair[1].commit_count) for pair in pairs)
    in_transactions = sum(_grown(pair, pair[0].transaction_commit_ns, pair[1].transaction_commit_ns) for pair in pairs)
    if not commits or not in_transactions:
        raise EosctlError(
            f"{name} committed no transaction in the interval.",
            "Its threads committed without transactions: processing.guarantee is not exactly_once_v2."
            if commits
            else "Its threads committed nothing: no input arrived, or the interval is shorter than commit.interval.ms.",
            "Set processing.guarantee=exactly_once_v2." if commits else "Watch for longer with --duration.",
        )
    source = f"JMX of {name}"
    threads = [thread for _, one in pairs for thread in one.threads]
    reads = sorted({topic for _, one in pairs for topic in one.consumed if topic in topics})
    writes = sorted({topic for _, one in pairs for topic in one.sent if topic in topics})
    inputs = observe_inputs(name, [one for _, one in pairs], reads, writes)
    found = {
        "kind": Given("streams", source),
        "producers": Given(str(len(threads)), f"{source}: stream threads"),
        "instances": Given(str(len(pairs)), f"{source}: addresses given"),
        "transactions": Given(f"{commits:.6g}/s", f"{source}: commit-total"),
        "reads": Given(json.dumps([_alone_or_list(names) for names in inputs.reads]), f"{source}: main consumers"),
    }
    if writes:
        found["writes"] = Given(json.dumps(dict.fromkeys(writes, "auto")), f"{source}: producers")
    if inputs.written_by:
        writers = {topic: _alone_or_list(names) for topic, names in inputs.written_by.items()}
        found["written_by"] = Given(json.dumps(writers), f"{source}: sink nodes and stores of its tasks")
    clients = [match["client"] for thread in threads if (match := _THREAD_ID.fullmatch(thread))]
    if clients and all(map(_PROCESS_ID.search, clients)):
        longest = max(map(len, clients)) + _NUMBER_BYTES
        found["transactional_id"] = Given(f"{longest} B", f"{source}: application id, process id, number")
    if state := sum(_file_bytes(pairs).values()):
        found["state"] = Given(f"{round(state)} B", f"{source}: total-sst-files-size, as compressed on disk")
    return found


def _alone_or_list(names: Sequence[str]) -> str | list[str]:
    return names[0] if len(names) == 1 else list(names)


def _file_bytes(pairs: Sequence[_Pair]) -> dict[str, float]:
    """Return the files of each store in one copy: a task's standbys have the same store once more."""
    largest: dict[tuple[str, str], float] = defaultdict(float)
    for _, one in pairs:
        for store in one.stores:
            place = (store.store, store.task)
            largest[place] = max(largest[place], store.file_bytes or 0.0)
    found: dict[str, float] = defaultdict(float)
    for (store_name, _), size in largest.items():
        found[store_name] += size
    return found


def _topics(name: str, pairs: Sequence[_Pair]) -> dict[str, Section]:
    consumed = _rates(pairs, [(old.consumed, new.consumed) for old, new in pairs])
    sent = _rates(pairs, [(old.sent, new.sent) for old, new in pairs])
    partitions = {partition for _, one in pairs for partition in one.assigned}
    tasks: dict[str, set[str]] = defaultdict(set)
    for _, one in pairs:
        for store in one.stores:
            tasks[store.store].add(store.task)
    files = _file_bytes(pairs)
    found: dict[str, Section] = {}
    for topic, rate in {**consumed, **sent}.items():
        if not rate.records:
            continue
        source = f"JMX of {name}: {'records sent' if topic in sent else 'records read'}"
        size = value_bytes_for(rate.size_bytes / rate.records)
        values = {"rate": Given(f"{rate.records:.6g}/s", source), "value": Given(f"{size} B", f"{source}, with keys")}
        count = sum(partition.topic == topic for partition in partitions)
        store_name = topic.removeprefix(f"{name}-").removesuffix("-changelog")
        if count:
            values["partitions"] = Given(str(count), f"JMX of {name}: assigned partitions")
        elif topic.endswith("-changelog") and store_name in tasks:
            values["partitions"] = Given(str(len(tasks[store_name])), f"JMX of {name}: tasks with the store")
            values["cleanup"] = Given("compact", "Kafka Streams compacts changelogs")
            if files.get(store_name):
                values["live"] = Given(f"{round(files[store_name])} B", f"JMX of {name}: total-sst-files-size")
        found[topic] = values
    return found


def _rates(
    pairs: Sequence[_Pair], readings: Sequence[tuple[Mapping[str, Carried], Mapping[str, Carried]]]
) -> dict[str, Carried]:
    found: dict[str, Carried] = {}
    for pair, (old, new) in zip(pairs, readings, strict=True):
        for topic, ended in new.items():
            began, known = old.get(topic, Carried()), found.get(topic, Carried())
            found[topic] = Carried(
                known.records + _grown(pair, began.records, ended.records),
                known.size_bytes + _grown(pair, began.size_bytes, ended.size_bytes),
            )
    return found
