"""Known bugs as a list."""

from __future__ import annotations

from typing import Final

import msgspec

from eosctl.model.known_bug import KnownBug, Version, version_text
from eosctl.render.listing import Column


class BugItem(msgspec.Struct, frozen=True):
    """A bug; ``version`` is the one it was looked up for, or empty; no ``fixed`` means that it is open."""

    id: str
    product: str
    version: str
    severity: str
    since: str
    fixed: tuple[str, ...]
    symptom: str
    workaround: str
    reference: str


BUG_COLUMNS: Final[tuple[Column[BugItem], ...]] = (
    Column("ID", lambda item: item.id),
    Column("PRODUCT", lambda item: item.product),
    Column("SEVERITY", lambda item: item.severity),
    Column("FIXED-IN", lambda item: ",".join(item.fixed) or "open"),
    Column("SYMPTOM", lambda item: item.symptom),
    Column("WORKAROUND", lambda item: item.workaround, wide=True),
    Column("REFERENCE", lambda item: item.reference, wide=True),
)


def bug_item(bug: KnownBug, version: Version | None = None) -> BugItem:
    """Shape one bug."""
    return BugItem(
        id=bug.id,
        product=bug.product.value,
        version="" if version is None else version_text(version),
        severity=bug.severity.value,
        since=version_text(bug.since),
        fixed=tuple(version_text(fix) for fix in bug.fixed),
        symptom=bug.symptom,
        workaround=bug.workaround,
        reference=bug.reference,
    )
