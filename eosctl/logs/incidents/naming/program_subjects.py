"""Name the program of an incident by its own records, where the subject has only the name of a file.

Syslog puts the program in front of each record, Logstash its pipeline, and programs in Rust their process and module.
Flink names the job in each change of its state, and the tasks with their sinks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from eosctl.logs.files.applications import is_named_after_file
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent

LEAST: Final = 2
"""Minimum number of records that begin with the same program and a module; one may begin with other words."""
_PROGRAM: Final = re.compile(r"(?P<program>[a-z][\w-]{2,40}): (?:\w{2,40}::)*\w{2,40}: ")
_OTHER_WORDS: Final = re.compile(
    r"(?i:kafka|librdkafka|rdkafka|err|error|warn|warning|info|debug|fatal|consumer|producer)"
)
_COMPONENTS: Final = (
    re.compile(r"\[output:kafka:(?P<name>[\w.-]{1,60})\]|\boutput=(?P<other>[\w.-]{1,60})"),
    re.compile(r'"kind": ?"(?:exporter|receiver)"[^\n]{0,200}?"name": ?"(?P<name>[\w./-]{1,60})"'),
    re.compile(r"(?:^|\bSink: |-> )(?P<name>\w(?:[\w. -]{0,58}\w)?): (?:Writer|Committer)\b"),
    re.compile(r"\bsink\{name=(?P<name>[\w.-]{1,60}) "),
    re.compile(r"\b[Ss]ink (?P<name>(?=[\w.-]*\d)[\w.-]{1,60}(?:/\d{1,4})?)(?=[ :,])"),
    re.compile(r"^#\d{1,3} \[(?P<name>[A-Za-z][\w.-]{0,60})\] |\bplugin_id=\"(?P<other>(?!object:)[\w.-]{1,60})\""),
)
"""Where Fluent Bit names its output, the OpenTelemetry Collector its exporter, Flink, Vector before 0.13, and
Materialize their sinks, and Fluentd its plugin."""
_PLUGIN: Final = re.compile(r"(?:logstash\.)?(?:in|out)puts\.kafka\w*(?:::[\w.-]{1,60})?")
"""The logger of a plugin of Logstash, or of one of Telegraf, with its alias."""
_JOB: Final = re.compile(r"\bJob (?P<name>[^\n]{1,200}?) \([\da-f]{32}\) switched from state \w")
"""Flink's words about a job that changes its state."""
_OWNERS: Final = ("broker", "brokers", "controller", "host", "pod", "principal", "process", "server")
"""The names in a subject of whom a fault is about: a machine, a node, or whom one refuses."""
_SYSLOGS: Final = frozenset({"syslog", "syslog-iso"})
_A_SERVER: Final = "A Kafka server "
"""The beginning of the sentence about a server that no record names."""
_LOGSTASH: Final = "logstash."


def name_programs(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; an application that is only the name of a file becomes the program that all evidence names."""
    layouts = {source.file: source.layout.split("+") for source in timeline.sources}
    for one in incidents:
        one = _with_host(timeline, _with_component(timeline, _with_server(timeline, one)))
        name = one.subject.get("application", "")
        events = timeline.evidence(one) if isinstance(name, str) and name else ()
        if not events or not all(_is_of_file(event, str(name)) for event in events):
            yield one
            continue
        if pipelines := _all_equal([event.thread if event.logger.startswith(_LOGSTASH) else "" for event in events]):
            one = one._replace(subject={**one.subject, "component": pipelines})
        idents = ["" if _SYSLOGS.isdisjoint(layouts.get(event.file, ())) else event.logger for event in events]
        program = _all_equal(idents) or _all_equal([_beginning(event) for event in events], LEAST)
        program = program or _job_of(timeline, events)
        component = one.subject.get("component", "")
        file = Path(events[0].file.replace("\\", "/")).name
        if program:
            yield _named(one, file, program)
        elif isinstance(component, str) and component:
            yield _of_component(one, file, component)
        else:
            yield one


def _with_server(timeline: LogTimeline, one: Incident) -> Incident:
    """Return an incident without a subject with the container, pod, or unit of the only server that reported it."""
    events = [] if one.subject else timeline.evidence(one)
    own = [event for event in events if event.application in timeline.servers()]
    server = _all_equal([event.application for event in own])
    if not server or any(is_named_after_file(Path(event.file.replace("\\", "/")), server) for event in own):
        return one
    text = one.explanation
    if text.startswith(_A_SERVER):
        text = f"The Kafka server {server} {text.removeprefix(_A_SERVER)}"
    return one._replace(subject={"application": server}, explanation=text)


def _with_component(timeline: LogTimeline, one: Incident) -> Incident:
    """Return an incident with the only output or sink that its records name."""
    if any(one.subject.get(name) for name in ("component", "components", "connector.task")):
        return one
    events = [event for event in timeline.evidence(one) if event.application not in timeline.servers()]
    found = [match for event in events for text in _COMPONENTS for match in text.finditer(event.message)]
    names = {match["name"] or match.groupdict().get("other") or "" for match in found}
    names |= {event.logger for event in events if _PLUGIN.fullmatch(event.logger)}
    return one._replace(subject={**one.subject, "component": names.pop()}) if len(names) == 1 else one


def _with_host(timeline: LogTimeline, one: Incident) -> Incident:
    """Return an incident of a server that no record numbers with the only machine that its records name."""
    if any(one.subject.get(name) for name in _OWNERS):
        return one
    written = [event for event in timeline.evidence(one) if event.application in timeline.servers()]
    hosts = {event.host for event in written if not timeline.node_of(event.application)}
    host = hosts.pop() if len(hosts) == 1 else ""
    is_new = host and host != one.subject.get("application")
    return one._replace(subject={**one.subject, "host": host}) if is_new else one


def _is_of_file(event: LogEvent, name: str) -> bool:
    path = Path(event.file.replace("\\", "/"))
    return event.application == name and is_named_after_file(path, name)


def _all_equal(names: Sequence[str], least: int = 1) -> str:
    """Return the name that all records have; empty if one has another, or none."""
    return names[0] if len(names) >= least and names[0] and set(names) == {names[0]} else ""


def _beginning(event: LogEvent) -> str:
    found = None if event.logger else _PROGRAM.match(event.message)
    return "" if found is None or _OTHER_WORDS.fullmatch(found["program"]) else found["program"]


def _job_of(timeline: LogTimeline, events: Sequence[LogEvent]) -> str:
    """Return the only job of Flink that the log of some records names; empty if it names several, or none."""
    jobs = (_JOB.search(event.message) for event in timeline.log_with(events[-1]) if event.category == "JOB_RESTARTED")
    names = {job["name"] for job in jobs if job is not None}
    return names.pop() if len(names) == 1 else ""


def _of_component(one: Incident, file: str, component: str) -> Incident:
    """Return an incident with the output or sink as the subject of its sentences, and not the whole program."""
    text = one.explanation
    for words in (f"The program of {file}", f"the program of {file}"):
        text = text.replace(words, f"{component} in {file}")
    return one._replace(explanation=text)


def _named(one: Incident, file: str, program: str) -> Incident:
    text = one.explanation
    for words in (f"The program of {file}", f"the program of {file}"):
        text = text.replace(words, program)
    return one._replace(subject={**one.subject, "application": program}, explanation=text)
