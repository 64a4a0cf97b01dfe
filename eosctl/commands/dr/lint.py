"""``eosctl dr``: what survives when a region is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from eosctl.commands.invocation import invocation_of, tell, write_result
from eosctl.commands.options import Output, OutputFile
from eosctl.errors import ExitCode, UsageError
from eosctl.render.formats import FOR_PEOPLE, OutputFormat

# What it finds stands among the things that are carried over.
TOLD_ABOVE: Final = frozenset({"EOS-CFG-064"})


def lint(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files and folders of mirrors.", exists=True)],
    output: Output = OutputFormat.TABLE,
    output_file: OutputFile = None,
) -> None:
    """Tell what a mirror between two clusters carries over, what it does not, and what is set wrong.

    Reads mm2.properties, MirrorMaker's connectors, and the settings of cluster links. Rehearse the failover itself with
    "eosctl runbook test region-failover". Exit code: 2 when a file is malformed or holds no mirror, 3 when something is
    wrong.
    """
    from eosctl.analysis.recovery import explain_carried
    from eosctl.checks.judge import findings_of, judge
    from eosctl.checks.registry import CONFIGURATION_CHECKS
    from eosctl.model.deployment import Role
    from eosctl.model.severity import Severity
    from eosctl.render.envelope import listing
    from eosctl.render.listing import render_listing
    from eosctl.render.page import render_page
    from eosctl.render.runbooks.recovery import CARRIED_COLUMNS, carried_blocks, carried_item, finding_item
    from eosctl.settings.deployment_files import read_deployment
    from eosctl.settings.link_files import find_links

    invocation = invocation_of(context)
    files = read_deployment(paths, roles=dict.fromkeys(find_links(paths), Role.MIRROR_MAKER))
    carried = explain_carried(files.deployment)
    for broken in files.unreadable:
        tell(broken.error)
    if not carried and not files.unreadable:
        raise UsageError(
            "No mirror was found in these files.",
            "A flow of MirrorMaker is enabled by SOURCE->TARGET.enabled=true; a cluster link has settings such as "
            "consumer.offset.sync.enable.",
            "Name its file.",
        )
    rules = [rule for rule in CONFIGURATION_CHECKS if Role.MIRROR_MAKER in rule.roles and rule.id not in TOLD_ABOVE]
    found = [f for f in findings_of(judge(files.deployment, rules)) if f.severity.at_least(Severity.WARNING)]
    items = (*map(carried_item, carried), *map(finding_item, found))
    result = listing("dr-lint", "dr lint", invocation.now_ms(), items)
    if output in FOR_PEOPLE:
        text = render_page(carried_blocks(items), invocation.style())
    else:
        text = render_listing(result, CARRIED_COLUMNS, output)
    write_result(text, output_file)
    if files.unreadable:
        raise typer.Exit(ExitCode.BAD_INPUT)
    raise typer.Exit(ExitCode.FINDINGS if any(item.fate == "wrong" for item in items) else 0)
