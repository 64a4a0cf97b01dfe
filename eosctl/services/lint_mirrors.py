"""Explain what mirrors between two clusters carry over, and what is set wrong in them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.analysis.recovery import explain_carried
from eosctl.checks.judge import judge
from eosctl.checks.registry import CONFIGURATION_CHECKS
from eosctl.errors import UsageError
from eosctl.findings.finding import Finding
from eosctl.findings.linted import Unreadable, findings_of
from eosctl.model.deployment import Role
from eosctl.model.recovery import Carried
from eosctl.model.severity import Severity
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.settings.deployment.deployment_files import read_deployment

_AMONG_CARRIED: Final = frozenset({"EOS-CFG-064"})
"""Checks whose findings are among the things that are carried over."""


class MirrorsLinted(NamedTuple):
    """What mirrors carry over, what is wrong with them, and the files that could not be read."""

    carried: tuple[Carried, ...]
    findings: tuple[Finding, ...]
    unreadable: tuple[Unreadable, ...]


def lint_mirrors(paths: Sequence[Path], callbacks: Callbacks = SILENT) -> MirrorsLinted:
    """Judge the configuration of mirrors.

    Args:
        paths: Files and folders of mirrors.
        callbacks: Called with each file that cannot be read.

    Raises:
        UsageError: The files hold no mirror.
    """
    files = read_deployment(paths)
    carried = explain_carried(files.deployment)
    for broken in files.unreadable:
        callbacks.report_error(broken.error)
    if not carried and not files.unreadable:
        raise UsageError(
            "No mirror was found in these files.",
            "A flow of MirrorMaker is enabled by SOURCE->TARGET.enabled=true; a cluster link has settings such as "
            "consumer.offset.sync.enable.",
            "Name its file.",
        )
    rules = [one for one in CONFIGURATION_CHECKS if Role.MIRROR_MAKER in one.roles and one.id not in _AMONG_CARRIED]
    found = (one for one in findings_of(judge(files.deployment, rules)) if one.severity.at_least(Severity.WARNING))
    return MirrorsLinted(tuple(carried), tuple(found), files.unreadable)
