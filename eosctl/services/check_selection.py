"""The choice of checks by id, name, area, or tag."""

from __future__ import annotations

from collections.abc import Sequence

from eosctl.checks.declaration import Check
from eosctl.checks.manual import manual_of
from eosctl.checks.registry import ALL_CHECKS, CATALOG, find_check, names_of, select_checks
from eosctl.errors import UsageError, unknown_name
from eosctl.findings.manual import CheckItem
from eosctl.model.evidence import EvidenceKind


def choose_checks(selectors: Sequence[str] = (), *, of_files: bool = False) -> tuple[Check, ...]:
    """Return the checks that any of the selectors names; all of them without selectors.

    Args:
        selectors: Ids, names, areas, and tags.
        of_files: Whether checks of configuration files can be chosen too, not only those of a cluster.

    Raises:
        UsageError: A selector names no check.
    """
    among = CATALOG if of_files else ALL_CHECKS
    try:
        return select_checks(selectors, among)
    except LookupError as error:
        selector = str(error.args[0])
        named = find_check(selector)
        if not of_files and named is not None and named.is_about_configuration:
            raise UsageError(
                f"{selector} judges configuration files, not a cluster.",
                "",
                "Run: eosctl config lint PATH; with --with-cluster the brokers are judged too.",
            ) from error
        names = {*names_of(among), *(name for check in among for name in (check.area.value, *check.tags))}
        raise unknown_name("check, area or tag", selector, names, "List them: eosctl check list") from error


def list_checks(selectors: Sequence[str]) -> tuple[CheckItem, ...]:
    """Return the chosen checks of clusters and of configuration files, by id.

    Raises:
        UsageError: A selector names no check.
    """
    chosen = sorted(choose_checks(selectors, of_files=True), key=lambda check: check.id)
    return tuple(manual_of(check).check for check in chosen)


def evidence_for(checks: Sequence[Check]) -> frozenset[EvidenceKind]:
    """Return the kinds of evidence that checks need or use."""
    return frozenset().union(*(check.needs | check.uses for check in checks))
