"""Every command that README and docs show runs, in the order shown, and leaves no process behind.

Commands are the lines that start with ``$ `` in fenced ``console`` blocks. A comment on the line before a block
changes what is expected of it: ``<!-- not run: REASON -->`` leaves it out, ``<!-- exit N -->`` names the exit status of
its last command. The blocks of a page share a folder and a home of their own, with links to
``docs`` and ``examples``.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import uuid
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.free_port import free_port

ROOT = Path(__file__).parents[2]
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")))
COMMAND_TIMEOUT_S = 120
MARKER = "EOSCTL_SHOWN_COMMANDS"
#: The port in the pages' commands; each run replaces it with a free one.
SHOWN_PORT = "19404"

BLOCK = re.compile(r"^(?:<!-- (?P<comment>[^\n]*?) -->\n)?```console\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


class Shown(NamedTuple):
    """A command of a page and the exit status that it must have."""

    command: str
    exit_code: int


def shown_commands(page: str) -> list[Shown]:
    """Return the commands of a page in order, without the blocks that are left out."""
    found: list[Shown] = []
    for block in BLOCK.finditer(page):
        comment = block["comment"] or ""
        if comment.startswith("not run: "):
            continue
        commands = [Shown(command, 0) for command in block_commands(block["body"])]
        if match := re.fullmatch(r"exit (\d+)", comment):
            commands[-1] = commands[-1]._replace(exit_code=int(match[1]))
        found += commands
    return found


def block_commands(body: str) -> list[str]:
    """Return the commands of a block; a line that ends in a backslash continues in the next."""
    joined = body.replace("\\\n", "")
    return [line.removeprefix("$ ") for line in joined.splitlines() if line.startswith("$ ")]


def run_page(commands: list[Shown], folder: Path) -> None:
    """Run commands one after the other and fail at the first that does not end as shown, or that leaves a process."""
    marker, port = uuid.uuid4().hex, str(free_port())
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(folder),
        "XDG_STATE_HOME": str(folder / "state"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        MARKER: marker,
    }
    try:
        for command, expected in commands:
            done = subprocess.run(
                ["bash", "-uo", "pipefail", "-c", command.replace(SHOWN_PORT, port)],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=COMMAND_TIMEOUT_S,
                check=False,
            )
            result = f"$ {command}\n{done.stdout}{done.stderr}"
            assert done.returncode == expected, f"exit status {done.returncode}, not {expected}:\n{result}"
            assert "Traceback (most recent call last)" not in done.stderr, result
    finally:
        left = processes_with(marker)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
    assert left == [], "the page leaves processes running"


def processes_with(marker: str) -> list[int]:
    """Return the processes that were started, at any remove, with this marker in their environment."""
    wanted = f"{MARKER}={marker}".encode()
    return [int(process.name) for process in Path("/proc").glob("[0-9]*") if wanted in environment_of(process)]


def environment_of(process: Path) -> list[bytes]:
    """Return the variables of a process, none for a kernel thread, a dead process and one of another user.

    In the middle of an exec a process has a program but no environment yet; it is asked again until it has one.
    """
    try:
        while not (environ := (process / "environ").read_bytes()):
            (process / "exe").readlink()
            os.sched_yield()
    except OSError:
        return []
    return environ.split(b"\0")


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if shown_commands((ROOT / page).read_text("utf-8"))])
def test_the_commands_of_a_page_run(page: str, tmp_path: Path) -> None:
    for folder in ("docs", "examples"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    run_page(shown_commands((ROOT / page).read_text("utf-8")), tmp_path)


def test_commands_are_found_in_order_and_blocks_can_be_left_out() -> None:
    page = (
        "```console\n$ first\noutput\n$ second \\\n    --more\n```\n"
        "<!-- not run: needs a cluster of yours -->\n```console\n$ left out\n```\n"
        "<!-- exit 3 -->\n```console\n$ third\n$ fourth\n```\n"
        "```python\n$ not a command\n```\n"
    )
    assert shown_commands(page) == [
        Shown("first", 0),
        Shown("second     --more", 0),
        Shown("third", 0),
        Shown("fourth", 3),
    ]


def test_commands_that_end_as_shown_pass(tmp_path: Path) -> None:
    run_page([Shown("echo 1 >file", 0), Shown("cat file", 0), Shown("exit 3", 3)], tmp_path)


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ("false", "exit status 1, not 0"),
        ("eosctl no-such-command", "exit status 2, not 0"),
        ("false | cat", "exit status 1, not 0"),
        ("python -c '1/0' || true", "Traceback"),
        ("setsid sleep 300 >/dev/null 2>&1 &", "leaves processes running"),
    ],
)
def test_a_command_that_does_not_do_as_shown_is_refused(command: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=complaint):
        run_page([Shown(command, 0)], tmp_path)
