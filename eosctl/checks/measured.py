"""From metrics of programs to problems: which values there are, and which are beyond a limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from eosctl.checks.declaration import Case
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.metric_page import MetricPage, MetricSample
from eosctl.model.verdict import Evidence, Resource

NEEDS: Final = frozenset({EvidenceKind.METRICS})


class Series(NamedTuple):
    """A series under the name that jmx_exporter gives it without rules.

    ``name`` is that of a Yammer bean, ``attribute`` that of the bean's attribute otherwise.
    """

    series: str
    name: str = ""
    attribute: str = ""

    @property
    def metric(self) -> str:
        """What ``eosctl metrics explain`` knows it as."""
        return self.name or self.attribute

    def of(self, page: MetricPage) -> Iterator[MetricSample]:
        """Yield its samples on a page."""
        return page.values(self.series, **({"name": self.name} if self.name else {}))


class Measured(NamedTuple):
    """A value that a program reported."""

    source: str
    metric: str
    labels: dict[str, str]
    value: float

    @property
    def resource(self) -> Resource:
        """The program."""
        return Resource("program", self.source)

    @property
    def evidence(self) -> Evidence:
        """What was read where."""
        return Evidence(self.metric, f"{self.value:,.6g}", self.source)

    @property
    def verify(self) -> Command:
        """How to look again."""
        return Command(f"eosctl metrics show {self.source} --bad")


def shown(*series: Series) -> Callable[[Case], str]:
    """Return an ``applies`` that wants at least one of these series on some page."""

    def why_not(case: Case) -> str:
        if EvidenceKind.METRICS not in case.snapshot.collected:
            return "no metrics were given (eosctl doctor --metrics URL)"
        # Without pages the evidence has gaps, which explain more than this text.
        if not case.snapshot.metric_pages or any(True for one in series for _ in measured(case, one)):
            return ""
        return f"none of these programs shows {' or '.join(dict.fromkeys(one.metric for one in series))}"

    return why_not


def measured(case: Case, series: Series) -> Iterator[Measured]:
    """Yield the values of a series, program by program."""
    for page in case.snapshot.metric_pages:
        for sample in series.of(page):
            yield Measured(page.source, series.metric, sample.labels, sample.value)


def above(case: Case, series: Series, limit: float) -> Iterator[Measured]:
    """Yield the values that are greater than a limit."""
    return (one for one in measured(case, series) if one.value > limit)
