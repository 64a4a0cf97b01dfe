"""The pages about faults and the control socket cover everything that the code can do, in its words."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from eosctl.sandbox.cluster import EmbeddedCluster
from eosctl.sandbox.faults.bugs import BUGS
from eosctl.sandbox.faults.kinds import MEANINGS, NEEDED, SETTINGS, FaultKind

PAGES = Path(__file__).parents[2] / "docs" / "sandbox"


def rows(page: str, header: str) -> list[str]:
    """Return the rows of every table of a page that has this header."""
    found: list[str] = []
    for table in (PAGES / page).read_text("utf-8").split(header + "\n")[1:]:
        found += table.split("\n\n")[0].splitlines()[1:]
    return found


def test_every_kind_of_fault_is_listed_with_its_settings() -> None:
    def words(kind: FaultKind) -> str:
        needed = NEEDED.get(kind, ())
        return " ".join(f"`{name}=`" if name in needed else f"`[{name}=]`" for name in SETTINGS[kind])

    wanted = [f"| `{kind}` | {words(kind)} | {meaning} |" for kind, meaning in MEANINGS.items()]
    assert set(MEANINGS) == set(SETTINGS) == set(FaultKind)
    assert rows("faults.md", "| Fault | Settings | Meaning |") == wanted


def test_every_known_bug_is_listed() -> None:
    listed = re.findall(r"^\| `([\w-]+)`", "\n".join(rows("faults.md", "| Bug | Releases | Without `--bug` |")), re.M)
    assert listed == [bug.name for bug in BUGS]


def test_every_command_of_the_control_socket_is_listed(tmp_path: Path) -> None:
    async def commands_of_a_sandbox() -> set[str]:
        async with EmbeddedCluster(data_dir=tmp_path) as embedded:
            return {"stop", *embedded.cluster.commands()}

    listed = rows("control.md", "| Command | Arguments | What it does |")
    named = [name for row in listed for name in re.findall(r"`([\w-]+)`", row.split(" | ")[0])]
    assert len(named) == len(set(named))
    assert set(named) == asyncio.run(commands_of_a_sandbox())
