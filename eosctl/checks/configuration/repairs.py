"""Repairs that leave no choice: a finding for which one edit of the file is right."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from eosctl.findings.finding import Finding
from eosctl.findings.repair import Repair, RepairAction
from eosctl.model.parameter import relaxed
from eosctl.model.severity import Severity

_SET: Final = {
    "EOS-CFG-010": "true",
    "EOS-CFG-011": "all",
    "EOS-CFG-013": "5",
    "EOS-CFG-014": "5",
    "EOS-CFG-020": "read_committed",
    "EOS-CFG-021": "false",
    "EOS-CFG-037": "false",
    "EOS-CFG-051": "exactly_once_v2",
    "EOS-CFG-054": "true",
    "EOS-CFG-080": "true",
    "EOS-CFG-092": "true",
    "EOS-CFG-110": "-1",
    "EOS-CFG-111": "true",
    "EOS-CFG-126": "false",
    "EOS-CFG-132": "3",
    "EOS-CFG-137": "1",
}
_REMOVE: Final = frozenset(
    {
        "EOS-CFG-012",
        "EOS-CFG-015",
        "EOS-CFG-019",
        "EOS-CFG-102",
        "EOS-CFG-103",
        "EOS-CFG-106",
        "EOS-CFG-109",
        "EOS-CFG-139",
    }
)
# What librdkafka refuses next to idempotence: the value that it accepts, by Kafka's name and librdkafka's own.
_ACCEPTED: Final = {
    "acks": "all",
    "request.required.acks": "all",
    "max.in.flight": "5",
    "max.in.flight.requests.per.connection": "5",
    "enable.idempotence": "true",
    "queuing.strategy": "fifo",
    "queue.buffering.backpressure.threshold": "1",
}
# The repair is unique only if this is the finding's first key.
_ONLY_FOR: Final = {
    "EOS-CFG-010": "enable.idempotence",
    "EOS-CFG-011": "acks",
    "EOS-CFG-012": "retries",
    "EOS-CFG-020": "isolation.level",
    "EOS-CFG-021": "enable.auto.commit",
}
# At information level these are decisions, not mistakes.
_CHOICES: Final = frozenset({"EOS-CFG-011", "EOS-CFG-020", "EOS-CFG-092"})
_OLD_GUARANTEES: Final = ("exactly_once", "exactly_once_beta")


def plan_repairs(findings: Iterable[Finding]) -> tuple[Repair, ...]:
    """Return the repairs of those findings that have a certain one, each key once."""
    found: dict[tuple[str, int, str], Repair] = {}
    for finding in findings:
        repair = None if _is_chosen(finding) else _repair(finding)
        if repair is not None:
            found.setdefault((repair.file, repair.line, repair.key), repair)
    return tuple(sorted(found.values(), key=lambda r: (r.file, r.line)))


def _is_chosen(finding: Finding) -> bool:
    """Return whether a finding is about a deliberate choice of at-least-once where nothing needs more."""
    return finding.check_id in _CHOICES and finding.severity is Severity.INFO


def _repair(finding: Finding) -> Repair | None:
    facts = dict(finding.facts)
    key, line, value = str(facts["keys"]).split(",")[0], int(facts["line"]), str(facts["value"])
    number, name = finding.check_id, key.rpartition("]")[2] or key
    if line < 1 or (number in _ONLY_FOR and not relaxed(name).endswith(relaxed(_ONLY_FOR[number]))):
        return None
    if number == "EOS-CFG-013" and not value.strip().isdigit():
        return None  # a tool's own default, which no key changes
    if number == "EOS-CFG-051" and value.strip() not in _OLD_GUARANTEES:
        return None

    def repair(action: RepairAction, text: str = "") -> Repair:
        return Repair(
            check_id=number,
            file=str(facts["file"]),
            line=line,
            key=key,
            action=action,
            text=text,
            reason=finding.message,
        )

    words = dict(pair.split("=", 1) for pair in str(facts.get("words", "")).split(",") if pair)
    if number in _SET:
        wanted = str(facts.get("accepted", _SET[number]))
        return repair(RepairAction.SET, words.get(wanted, wanted))
    if number == "EOS-CFG-070" and (accepted := _accepted_by_librdkafka(name)) is not None:
        return repair(RepairAction.SET, words.get(accepted, accepted))
    if number in _REMOVE:
        return repair(RepairAction.REMOVE)
    if key.isupper():
        return None  # a variable has no setting's prefix
    if number == "EOS-CFG-002" and _is_long_enough(finding):
        return repair(RepairAction.RENAME, f"producer.{key}")
    if number == "EOS-CFG-101":
        return repair(RepairAction.RENAME, f"topic.{key}")
    if number == "EOS-CFG-121":
        return repair(RepairAction.RENAME, key.replace("blacklist", "exclude"))
    return None


def _accepted_by_librdkafka(name: str) -> str | None:
    """Return the value that idempotence needs, for a key that may stand under others or be spelled as in .NET."""
    letters = relaxed(name)
    return next((text for setting, text in _ACCEPTED.items() if letters.endswith(relaxed(setting))), None)


def _is_long_enough(finding: Finding) -> bool:
    """Return whether the timeout, with its prefix, would be one that the commit interval fits into."""
    timeout, interval = (evidence.value for evidence in finding.evidence[:2])
    return int(timeout) >= int(interval)
