"""Index entries of the product's catalogs: checks, bugs, log categories, incidents, and runbooks."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from eosctl.checks.manual import manual_of
from eosctl.checks.registry import CATALOG
from eosctl.findings.logs_report import check_id
from eosctl.findings.manual import CheckItem
from eosctl.knowledge.known_bugs import load_known_bugs
from eosctl.logs.classifier.catalog import Alternative, CatalogedIncident, load_incidents
from eosctl.model.known_bug import version_text
from eosctl.model.reference import Entry, EntryKind, Fact
from eosctl.model.runbook import Runbook
from eosctl.render.diagnosis.catalog import releases_of
from eosctl.runbooks.lint import required_inputs
from eosctl.runbooks.load import library
from eosctl.services.log_categories import log_categories
from eosctl.services.reference.symptoms import runbook_of_category

_PLACEHOLDER: Final = re.compile(r"\{([\w.-]+)\}")
_CONDITION: Final = re.compile(r"\[!?[\w.-]+\? ")


def check_entries() -> Iterator[Entry]:
    """Yield the checks, with their manuals."""
    runbooks: dict[str, list[str]] = {}
    for source in library():
        for finding in source.book.findings:
            runbooks.setdefault(finding, []).append(source.book.id)
    for check in CATALOG:
        manual = manual_of(check)
        sections = {title: " ".join(text.split()) for title, text in manual.sections.items()}
        yield Entry(
            kind=EntryKind.CHECK,
            name=check.id,
            means=f"{check.title}. {sections.get('What it checks', '')}".strip(),
            aliases=(check.name, check.id.removeprefix("EOS-")),
            data=sections.get("Why it matters for exactly-once", ""),
            facts=tuple(Fact(label, text) for label, text in _check_facts(manual.check, sections) if text),
            next_steps=("eosctl config lint PATH" if check.is_about_configuration else f"eosctl check run {check.id}",),
            runbooks=tuple(runbooks.get(check.id, ())),
            sources=check.references,
        )


def _check_facts(item: CheckItem, sections: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield what the catalog and the manual have on a check, by its label."""
    yield "purpose", item.summary
    yield "severity", item.severity
    yield "needs", ", ".join(item.needs)
    yield "Kafka releases", releases_of(item)
    yield "tags", ", ".join(item.tags)
    for label, title in (("example", "Example"), ("fix", "Fix"), ("verify", "Verify")):
        yield label, sections.get(title, "")


def bug_entries() -> Iterator[Entry]:
    """Yield the known bugs."""
    for bug in load_known_bugs():
        fixed = ", ".join(map(version_text, bug.fixed)) or "open"
        number = bug.id.rpartition("-")[2]
        yield Entry(
            kind=EntryKind.BUG,
            name=bug.id,
            means=bug.symptom,
            aliases=(f"{bug.id.rpartition('-')[0]} #{number}",) if bug.id.startswith("librdkafka") else (),
            facts=(
                Fact("product", f"{bug.product.value}, {bug.severity.value}"),
                Fact("since", version_text(bug.since)),
                Fact("fixed in", fixed),
            ),
            next_steps=(bug.workaround, f"eosctl bugs {bug.id}"),
            sources=(bug.reference,) if bug.reference else (),
        )


def category_entries() -> Iterator[Entry]:
    """Yield the categories of log records."""
    for category in log_categories():
        yield Entry(
            kind=EntryKind.LOG_CATEGORY,
            name=category.id,
            means=category.meaning,
            facts=(
                Fact("severity", category.severity),
                *(Fact("pattern", pattern) for pattern in category.patterns),
                *(Fact("level", level) for level in category.levels),
                *(Fact("not of logger", logger) for logger in category.loggers_not),
                *(Fact("unless", pattern) for pattern in category.unless),
            ),
            next_steps=(
                category.next_step or "Nothing by itself; it is context for other categories.",
                f"eosctl logs scan PATH --category {category.id}",
            ),
        )


def incident_entries() -> Iterator[Entry]:
    """Yield the kinds of incidents that one record shows, with their causes as further names."""
    by_kind: dict[str, list[tuple[str, CatalogedIncident]]] = defaultdict(list)
    for category, incident in load_incidents().items():
        by_kind[incident.kind].append((category, incident))
    for kind, found in by_kind.items():
        yield Entry(
            kind=EntryKind.INCIDENT,
            name=check_id(kind),
            means=" Or: ".join(_plain(one.what) for _, incident in found for one in _verdicts_of(incident)),
            aliases=(
                kind,
                *dict.fromkeys(cause for _, incident in found for cause in _causes_of(incident) if cause),
            ),
            next_steps=tuple(
                dict.fromkeys(_plain(one.next_step) for _, incident in found for one in _verdicts_of(incident))
            ),
            runbooks=tuple(dict.fromkeys(filter(None, (runbook_of_category(category) for category, _ in found)))),
            see=tuple(category for category, _ in found),
        )


def _causes_of(incident: CatalogedIncident) -> tuple[str, ...]:
    return (incident.cause, incident.brief_cause, *(one.cause for one in incident.alternatives))


def _verdicts_of(incident: CatalogedIncident) -> tuple[CatalogedIncident | Alternative, ...]:
    return (incident, *incident.alternatives)


def _plain(text: str) -> str:
    """Return a verdict whose placeholders are words in capitals; each part with a condition is in brackets."""
    shown = _CONDITION.sub("[", text)
    return _PLACEHOLDER.sub(lambda match: "ID" if match[1] == "who" else match[1].upper().replace(".", "-"), shown)


def _command(book: Runbook) -> str:
    """Return the command that runs a runbook, with a placeholder for each required input."""
    inputs = (f"-i {name}={{{name}}}" for name in required_inputs(book))
    return " ".join(["eosctl runbook run", book.id, *inputs])


def runbook_entries() -> Iterator[Entry]:
    """Yield the runbooks."""
    for source in library():
        book = source.book
        yield Entry(
            kind=EntryKind.RUNBOOK,
            name=book.id,
            means=f"{book.title}. {' '.join(book.about.split())}",
            facts=(Fact("symptoms", "; ".join(book.symptoms)),),
            next_steps=(_command(book), f"eosctl runbook show {book.id}"),
            runbooks=(book.id,),
            sources=book.findings,
        )
