"""Define probes: the evidence that a probe reads, and the flat facts that it declares and returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

import msgspec

from eosctl.errors import UsageError
from eosctl.model.evidence import LISTED_BY, EvidenceGap, EvidenceKind, GapReason
from eosctl.model.runbook import Value
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.runbooks.readings import Arguments, Facts

COMPLETE: Final = "complete"


class Parameter(NamedTuple):
    """An argument of a probe or an action; ``default`` None: it must be given."""

    about: str
    default: Value | None = None
    is_number: bool = False


def with_defaults(name: str, parameters: Mapping[str, Parameter], given: Arguments) -> Arguments:
    """Fill defaults in, and turn numbers that were written as text into numbers.

    Raises:
        UsageError: What must be a number is none.
    """
    whole: dict[str, Value] = {key: p.default for key, p in parameters.items() if p.default is not None}
    for key, value in given.items():
        try:
            whole[key] = int(value) if parameters[key].is_number else value
        except ValueError:
            raise UsageError(
                f"{name}: {key} is {value!r}, which is not a number.", parameters[key].about, "Write a number."
            ) from None
    return whole


class ProbeKind(msgspec.Struct, frozen=True):
    """A probe.

    Attributes:
        name: As runbooks call it.
        about: What it reports, in one sentence.
        kinds: The evidence that it reads; brokers always are.
        facts: What it returns, with a word on each. Every probe also returns ``complete``: nothing of its evidence is
            missing.
        read: From the snapshot and the arguments to the facts.
        parameters: Its arguments.
    """

    name: str
    about: str
    kinds: frozenset[EvidenceKind]
    facts: Mapping[str, str]
    read: Callable[[ClusterSnapshot, Arguments], Facts]
    parameters: Mapping[str, Parameter] = msgspec.field(default_factory=dict)

    def facts_of(self, snapshot: ClusterSnapshot, arguments: Arguments) -> Facts:
        """Return the facts, ``complete`` among them."""
        given = with_defaults(self.name, self.parameters, arguments)
        return self.read(snapshot, given) | {COMPLETE: not self.missing(snapshot)}

    def missing(self, snapshot: ClusterSnapshot) -> tuple[EvidenceGap, ...]:
        """Return the gaps in its evidence."""
        lists = {listed for kind in self.kinds for listed in LISTED_BY.get(kind, ())}
        return tuple(
            gap
            for gap in snapshot.gaps
            if gap.kind in self.kinds or (gap.kind in lists and gap.reason is GapReason.HIDDEN)
        )
