"""Reading a workload file: YAML whose every mistake is named with its line, and whose every silence is written down."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import yaml

from eosctl.capacity.adjusted_assumptions import (
    assume_bounded_by_retention,
    assume_by_kind,
    assume_for_connectors,
    assume_for_release,
    assume_no_other_writers,
    assume_purged,
)
from eosctl.capacity.disk import live_bytes
from eosctl.capacity.quantities import QuantityError, parse_duration_ms, parse_growth, parse_number
from eosctl.capacity.refusal import WorkloadRefused, find_contradictions
from eosctl.capacity.workload_inputs import find_idle_keys, unread_limits
from eosctl.capacity.workload_reader import WorkloadReader, mark_of, suggest
from eosctl.capacity.workload_schema import (
    API_VERSION,
    APPLICATION_KEYS,
    CLUSTER_KEYS,
    DEFAULTS_BY_KIND,
    KIND,
    STORE_KEYS,
    TOPIC_KEYS,
    WITH_OFFSETS,
)
from eosctl.capacity.workload_tree import parse_tree
from eosctl.errors import ConfigFileError
from eosctl.model.workload import (
    ApplicationKind,
    ApplicationSpec,
    Assumption,
    Cleanup,
    ClusterSpec,
    StoreSpec,
    TopicSpec,
    Workload,
)
from eosctl.text import count_text

TOP_KEYS: Final = ("apiVersion", "kind", "name", "cluster", "topics", "applications", "growth_per_year")
AUTO: Final = "auto"
#: What Kafka takes as a topic's name (org.apache.kafka.common.internals.Topic).
TOPIC_NAME: Final = re.compile(r"(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}")
_IF_MISSING: Final = {
    "topics": "; perhaps the file is cut off",
    "applications": "; perhaps the file is cut off. If no application runs transactions, write applications: {}",
}
WRITE_ONLY: Final = frozenset(
    {ApplicationKind.PRODUCER, ApplicationKind.CONNECT, ApplicationKind.MIRROR, ApplicationKind.SHORT_LIVED}
)
#: Why a limit does not apply with the stated cleanup policy.
_UNREAD: Final = {
    "live": 'records are deleted by age alone; state cleanup: compact, or "compact,delete"',
    "retention": 'a topic that is only compacted keeps records of any age; state cleanup: "compact,delete"',
    "local_retention": "remote storage does not take compacted topics (KIP-405)",
}
INTERNAL_TOPICS: Final = ("__transaction_state", "__consumer_offsets")


def parse_workload(text: str, source: str) -> Workload:
    """Parse a workload file; messages name its source.

    Raises:
        ConfigFileError: It is not YAML, or not a workload; all mistakes are named, each with line and column.
        WorkloadRefused: It contradicts itself; every contradiction is named with the place that says it.
    """
    return read_tree(parse_tree(text, source), source)


def read_tree(root: yaml.Node | None, source: str) -> Workload:
    """Read a workload from the tree of its file; raises what `parse_workload` raises."""
    reading = _Reading(source)
    workload = reading.workload(root)
    if reading.mistakes or workload is None:
        mistakes = sorted(reading.mistakes)
        count = count_text(len(mistakes), "mistake")
        raise ConfigFileError(
            f"{source} is not a workload: {count}.",
            "\n".join(f"{source}:{line}:{column}: {what}" for line, column, what in mistakes),
            "Correct them; eosctl capacity init writes a file with every key explained.",
        )
    refused = sorted(
        (*reading.place(path), what if path in reading.places else f"{what} ({path} is assumed: state it)")
        for path, what in find_contradictions(workload)
    )
    if refused:
        count = count_text(len(refused), "contradiction")
        raise WorkloadRefused(
            f"{source} cannot be: {count}.",
            "\n".join(f"{source}:{line}:{column}: {what}" for line, column, what in refused),
            "Correct the figures.",
        )
    return workload


class _Reading(WorkloadReader):
    """One pass over a file."""

    def workload(self, root: yaml.Node | None) -> Workload | None:
        if root is None:
            self.mistakes.append((1, 1, "the file is empty"))
            return None
        top = self.mapping(root, "the file", TOP_KEYS)
        for name, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
            if (given := top.get(name)) is not None and self.text(given) != wanted:
                self.complain(given, f"{name} is {self.text(given)!r}; this program reads {wanted}")
        for name in ("kind", "name", "cluster", "topics", "applications"):
            if name not in top:
                self.complain(root, f"{name} is missing{_IF_MISSING.get(name, '')}")
        name = self.text(top["name"]) if "name" in top else ""
        if "name" in top and not name:
            self.complain(top["name"], "name is empty")
        cluster = self.section(top.get("cluster"), "cluster", CLUSTER_KEYS)
        if cluster is not None:
            assume_for_release(self.assumptions, cluster)
        topics = [
            (node, section | {"name": topic})
            for topic, node in self.topics(top.get("topics"))
            if (section := self.section(node, f"topics.{topic}", TOPIC_KEYS)) is not None
        ]
        known = [values["name"] for _, values in topics]
        applications = [
            values
            for application, node in self.named(top.get("applications"), "applications", may_be_empty=True)
            if (values := self.application(application, node, known)) is not None
        ]
        sections = [values for _, values in topics]
        assume_by_kind(self.assumptions, sections, applications)
        assume_purged(self.assumptions, sections, applications)
        assume_for_connectors(self.assumptions, applications)
        assume_bounded_by_retention(self.assumptions, sections)
        assume_no_other_writers(self.assumptions, sections, applications)
        growth = self.growth(top.get("growth_per_year"))
        for node, values in topics:
            self.check_limits(node, values)
        if self.mistakes or cluster is None:
            return None
        idle = find_idle_keys(sections, applications)
        return Workload(
            name=name,
            cluster=ClusterSpec(**cluster),
            topics=tuple(TopicSpec(**values) for values in sections),
            applications=tuple(ApplicationSpec(**values) for values in applications),
            growth_per_year=growth,
            ranges=tuple(self.ranges),
            assumptions=tuple(a for a in self.assumptions if a.path not in idle),
        )

    def check_limits(self, node: yaml.Node, values: Mapping[str, Any]) -> None:
        """Complain about a size that is missing, or that no formula reads with this cleanup policy."""
        path, cleanup = f"topics.{values['name']}", values.get("cleanup")
        if not isinstance(cleanup, Cleanup):
            return
        if cleanup is Cleanup.COMPACT and not values.get("live_bytes"):
            self.complain(node, f"{path}.live is missing: a compacted topic keeps live records")
        for name in unread_limits(cleanup):
            if f"{path}.{name}" in self.places and values.get(TOPIC_KEYS[name].attribute):
                line, column = self.places[f"{path}.{name}"]
                self.mistakes.append((line, column, f"{path}.{name}: {_UNREAD[name]}"))

    def application(self, name: str, node: yaml.Node, topics: list[str]) -> dict[str, Any] | None:
        path = f"applications.{name}"
        values = self.section(node, path, APPLICATION_KEYS, also=("reads", "writes", "written_by", "stores"))
        if values is None:
            return None
        given = self.mapping(node, path, None)
        reads, joined = self.reads(given.get("reads"), topics)
        values |= {"name": name, "reads": reads, "joined": joined, "writes": ()}
        if "writes" in given:
            values["writes"] = tuple(self.writes(given["writes"], f"{path}.writes", topics))
        written_by = self.named(given.get("written_by"), f"{path}.written_by")
        values["written_by"] = tuple(self.written_by(written_by, f"{path}.written_by", values))
        values["stores"] = self.stores(given.get("stores"), f"{path}.stores")
        if values["stores"] and "state" in given:
            self.complain(given["state"], f"{path} has both state and stores; one follows from the other")
        elif values["stores"]:
            values["state_bytes"] = sum(map(live_bytes, values["stores"]))
            self.assumptions = [assumption for assumption in self.assumptions if assumption.path != f"{path}.state"]
        self.check_rhythm(node, path, values)
        if (kind := values.get("kind")) is not None:
            self.check_kind(node, path, kind, values, given)
        return values

    def check_kind(
        self,
        node: yaml.Node,
        path: str,
        kind: ApplicationKind,
        values: Mapping[str, Any],
        given: Mapping[str, yaml.Node],
    ) -> None:
        """Complain about what an application of its kind cannot have, or lacks."""
        for name, key in APPLICATION_KEYS.items():
            if name in given and not key.applies_to(kind):
                self.complain(given[name], f"{path}.{name}: an application of kind {kind} has no such setting")
        if values["joined"] and kind is not ApplicationKind.STREAMS:
            self.complain(given["reads"], f"{path}.reads: an application of kind {kind} has no sub-topologies to list")
        for name in ("stores", "written_by"):
            if values[name] and kind is not ApplicationKind.STREAMS:
                self.complain(given[name], f"{path}.{name}: an application of kind {kind} has no such setting")
        if kind in WRITE_ONLY and values["reads"]:
            self.complain(given["reads"], f"{path} is of kind {kind} and reads; see consume-process-produce")
        if kind in WITH_OFFSETS and not values["reads"]:
            self.complain(node, f"{path}.reads is missing: a {kind} application has input")
        if kind not in WITH_OFFSETS and not values["writes"]:
            self.complain(node, f"{path}.writes is missing: an application of kind {kind} writes something")

    def check_rhythm(self, node: yaml.Node, path: str, values: dict[str, Any]) -> None:
        interval, rate = values.get("commit_interval_ms"), values.get("transactions_per_s")
        if interval is not None and rate is not None:
            self.complain(node, f"{path} has both commit_interval and transactions; one follows from the other")
        if rate is not None:
            self.assumptions = [one for one in self.assumptions if one.path != f"{path}.commit_duration"]
        if interval is None and rate is None:
            assumed = DEFAULTS_BY_KIND.get(values.get("kind", ""), {}).get("commit_interval")
            if assumed is not None:
                values["commit_interval_ms"] = parse_duration_ms(assumed.text)
                self.assumptions.append(Assumption(f"{path}.commit_interval", assumed.text, assumed.why))
            elif "kind" in values:
                self.complain(node, f"{path} has neither commit_interval nor transactions: how often does it commit?")
        for name in ("commit_interval_ms", "transactions_per_s"):
            if values.get(name) == 0:
                self.complain(node, f"{path}: {name.rsplit('_', 1)[0]} is 0")

    def reads(self, node: yaml.Node | None, topics: list[str]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
        """Return what an application reads, and the topics among these that one sub-topology reads together."""
        if node is None:
            return (), ()
        if not isinstance(node, yaml.SequenceNode):
            self.complain(node, "reads is a list of topics")
            return (), ()
        names: list[str] = []
        joined: list[tuple[str, ...]] = []
        for item in node.value:
            together = item.value if isinstance(item, yaml.SequenceNode) else [item]
            for one in together:
                if (name := self.topic_name(one, topics)) in names:
                    self.complain(one, f"{name} is read twice")
                names.append(name)
            if isinstance(item, yaml.SequenceNode) and together:
                joined.append(tuple(names[-len(together) :]))
        return tuple(names), tuple(joined)

    def stores(self, node: yaml.Node | None, path: str) -> tuple[StoreSpec, ...]:
        sections = ((name, self.section(item, f"{path}.{name}", STORE_KEYS)) for name, item in self.named(node, path))
        complete = {key.attribute for key in STORE_KEYS.values()}
        return tuple(StoreSpec(name=name, **values) for name, values in sections if values and complete <= set(values))

    def writes(self, node: yaml.Node, path: str, topics: list[str]) -> Iterable[tuple[str, float | None]]:
        if not isinstance(node, yaml.MappingNode):
            self.complain(node, "writes is a mapping of topics to partitions of one transaction, or to auto")
            return
        for key, value in node.value:
            name = self.topic_name(key, topics)
            if f"{path}.{name}" in self.places:
                self.complain(key, f"{path} has {name} twice")
            self.places[f"{path}.{name}"] = mark_of(value)
            text = self.likely_text(value, f"{path}.{name}", parse_number)
            if text is None:
                continue
            if text == AUTO:
                yield name, None
                continue
            try:
                count = parse_number(text)
            except QuantityError as error:
                self.complain(value, f"{path}.{name}: {error}")
                continue
            if count == 0:
                self.complain(value, f"{path}.{name} is 0: leave the topic out")
            yield name, count

    def written_by(
        self, given: Iterable[tuple[str, yaml.Node]], path: str, values: Mapping[str, Any]
    ) -> Iterable[tuple[str, tuple[str, ...]]]:
        """Yield for each topic an input of each sub-topology that writes it."""
        written = [name for name, _ in values["writes"]]
        for topic, node in given:
            self.places[f"{path}.{topic}"] = mark_of(node)
            if topic not in written:
                self.complain(node, f"{path}: {topic!r} is none of the topics of writes{suggest(topic, written)}")
            inputs = []
            for item in node.value if isinstance(node, yaml.SequenceNode) else [node]:
                name = self.text(item)
                if name not in values["reads"]:
                    near = suggest(name, values["reads"])
                    self.complain(item, f"{path}.{topic}: {name!r} is none of the topics of reads{near}")
                inputs.append(name)
            if not inputs:
                self.complain(node, f"{path}.{topic} is empty: name an input of the sub-topology that writes it")
            yield topic, tuple(inputs)

    def topic_name(self, node: yaml.Node, topics: list[str]) -> str:
        name = self.text(node)
        if name not in topics:
            self.complain(node, f"{name!r} is none of the topics{suggest(name, topics)}")
        return name

    def growth(self, node: yaml.Node | None) -> float:
        if node is None:
            self.assumptions.append(Assumption("growth_per_year", "0 %", "nothing is said"))
            return 0.0
        text = self.likely_text(node, "growth_per_year", parse_growth)
        if text is None:
            return 0.0
        try:
            return parse_growth(text)
        except QuantityError as error:
            self.complain(node, f"growth_per_year: {error}")
            return 0.0

    def topics(self, node: yaml.Node | None) -> list[tuple[str, yaml.Node]]:
        found = self.named(node, "topics")
        for name, value in found:
            if name in INTERNAL_TOPICS:
                self.complain(value, f"topics.{name} is Kafka's own; it is planned from the applications")
            elif name and not TOPIC_NAME.fullmatch(name):
                self.complain(
                    value, f"{name!r} is not a topic name: letters, digits, dot, dash, underscore, 249 at most"
                )
        return found
