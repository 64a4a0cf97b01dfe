"""Index entries of the findings that no check makes: of data directories, verifications, runbooks, and checklists."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.findings import runbook_flaw
from eosctl.findings.fsck.kinds import find_kind, kind_names
from eosctl.findings.manual import DIRECTORIES
from eosctl.knowledge.checklist_files import shipped_checklists
from eosctl.model import checklist as checklists
from eosctl.model.reference import Entry, EntryKind, Fact
from eosctl.services import verification_findings


def finding_entries() -> Iterator[Entry]:
    """Yield an entry for each kind of finding, under the id that results show."""
    yield from _of_directories()
    yield from _of_verifications()
    yield from _of_runbooks()
    yield from _of_checklists()


def _of_directories() -> Iterator[Entry]:
    for name in kind_names():
        if (kind := find_kind(name)) is not None:
            yield Entry(
                kind=EntryKind.CHECK,
                name=name,
                means=f"{kind.title}. {kind.follows.effect}",
                aliases=(kind.name,),
                facts=(Fact("needs", DIRECTORIES), Fact("on restart", kind.follows.on_restart)),
                next_steps=(kind.follows.repair, "eosctl fsck DIR"),
            )


def _of_verifications() -> Iterator[Entry]:
    for kind, meaning in verification_findings.MEANINGS.items():
        yield Entry(
            kind=EntryKind.CHECK,
            name=verification_findings.check_id(kind),
            means=f"{verification_findings.title_of(kind)}: {meaning}.".replace("..", "."),
            next_steps=("eosctl verify show RUN",),
        )


def _of_runbooks() -> Iterator[Entry]:
    for kind, meaning in runbook_flaw.MEANINGS.items():
        yield Entry(
            kind=EntryKind.CHECK,
            name=runbook_flaw.check_id(kind),
            means=f"{meaning.title}. {meaning.impact}",
            facts=(Fact("severity", meaning.severity.value),),
            next_steps=(meaning.remedy, "eosctl runbook lint FILE"),
        )


def _of_checklists() -> Iterator[Entry]:
    for listed in shipped_checklists():
        for item in listed.items:
            yield Entry(
                kind=EntryKind.CHECK,
                name=checklists.check_id(listed, item),
                means=item.title,
                data=item.why,
                next_steps=(item.fix, f"eosctl checklist run {listed.id}"),
                see=item.checks,
            )
