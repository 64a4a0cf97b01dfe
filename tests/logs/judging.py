"""Judge logs that a test writes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from eosctl.logs.incidents.judge import judge_incidents
from eosctl.logs.scan import scan_paths
from eosctl.model.incident import Incident


def judge(folder: Path, files: Mapping[str, str]) -> list[Incident]:
    """Write files by their names into a folder, and judge them together."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    scan = scan_paths([folder])
    return list(judge_incidents(scan.events, scan.sources))
