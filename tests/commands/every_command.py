"""Every command of the program with hostile words and files in every place that takes some, made from the registry."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from enum import Enum
from itertools import cycle
from pathlib import Path
from typing import Any, Final, NamedTuple, get_args

from eosctl.collect.bundles.snapshot_file import save_snapshot
from eosctl.command_line.lazy import load_command
from eosctl.commands.registry import COMMANDS
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record
from tests.render.unhappy_cluster import unhappy_cluster

#: Writes the clipboard (OSC 52), clears the screen (CSI in 7 and 8 bits), turns and hides text, and is markup.
PAYLOAD: Final = (
    "\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b2J\x7f\x08\x0c\r\u202ex\u2066\u2069\u200e\u061c\u200b\u2060\ufeff\u3164\u2028"
    "[x](javascript:alert(1))<b>`|##[error]##vso[task.setvariable variable=x]::error::\n::error::forged"
)
#: An annotation of GitHub Actions, forged by a line feed in a name.
FORGED: Final = "\n::error::forged"
#: Run by a spreadsheet where a cell begins with it.
FORMULA: Final = "=HYPERLINK(1)"
#: They wait, act, or are tried in another way.
UNTRIED_FLAGS: Final = frozenset({"--help", "--watch", "--follow", "--yes", "--fix", "--write", "--replace"})
#: They serve, wait, or measure until they are stopped, or start other programs: only their options are tried.
RUNNING: Final = frozenset(
    {
        "demo", "exporter", "logs submit", "logs submit-data", "logs warmup", "logs watch", "lsp", "mcp",
        "metrics watch",
        "runbook test", "sandbox advance", "sandbox exec", "sandbox proxy", "sandbox serve", "sandbox simulate",
        "sandbox scenario",
        "sandbox up", "txn watch", "verify app", "verify canary", "verify dlq", "verify run",
    }
)  # fmt: skip
#: The options with which some of them only show what they would do.
SHOWING: Final[dict[str, tuple[str, ...]]] = dict.fromkeys(
    ("logs submit", "logs submit-data"), ("--dry-run", "--out", f"out-{PAYLOAD}", "--conf", f"a={PAYLOAD}")
)


class Leaf(NamedTuple):
    """A command: its words, its parameters, and the values of ``--output``; empty if it has no such option."""

    words: tuple[str, ...]
    parameters: tuple[Any, ...]
    formats: tuple[str, ...]

    @property
    def name(self) -> str:
        return " ".join(self.words)


def leaves() -> list[Leaf]:
    """Return every command that does something."""
    return [leaf for entry in COMMANDS for leaf in _leaves(load_command(entry), (entry.name,))]


def _leaves(command: Any, words: tuple[str, ...]) -> Iterator[Leaf]:
    below = getattr(command, "commands", {})
    for name, child in below.items():
        yield from _leaves(child, (*words, name))
    if not below:
        outputs = [one for one in command.params if "--output" in one.opts]
        yield Leaf(words, tuple(command.params), tuple(str(kind) for one in outputs for kind in _kind(one)))


def _kind(parameter: Any) -> Any:
    return parameter.type_descriptor.annotation


def _takes_text(parameter: Any) -> bool:
    kinds = (_kind(parameter), *get_args(_kind(parameter)))
    return any(isinstance(kind, type) and issubclass(kind, str | Path) and not issubclass(kind, Enum) for kind in kinds)


def hostile_files(folder: Path) -> list[Path]:
    """Write files of each kind that commands read, with hostile names and contents."""
    folder.mkdir()
    log = folder / (os.fsdecode(b"::error::app-\xff-\xe2\x80\xae-\x1b[2J") + f"{FORGED}.log")
    thrown = "org.apache.kafka.common.errors.ProducerFencedException: newer"
    log.write_text(
        "".join(
            f"[2026-11-20 10:00:00,000] ERROR [Producer clientId=a, transactionalId={one}] Aborting producer "
            f"batches due to fatal error (org.apache.kafka.clients.producer.internals.Sender)\n{thrown} {one}\n"
            for one in (f"\0{_line()}", FORMULA)
        ),
        "utf-8",
    )
    settings = folder / (os.fsdecode(b"pro\xe2\x80\xaeducer-\xff[x](javascript:a)") + f"{FORGED}.properties")
    settings.write_text(
        f"bootstrap.servers=b:1\ntransactional.id={_line()}\nenable.idempotence=false\nacks=\u202e1\nackz{_line()}=1\n",
        "utf-8",
    )
    snapshot = folder / "snapshot.json"
    save_snapshot(unhappy_cluster(), snapshot)
    bell = json.dumps("\x07")[1:-1]
    snapshot.write_text(snapshot.read_text("utf-8").replace(bell, json.dumps(PAYLOAD)[1:-1]), "utf-8")
    partition = folder / (os.fsdecode(b"orders\xff\x1b[2J") + f"{FORGED}-0")
    partition.mkdir()
    record = Record(0, 1_795_168_800_000, PAYLOAD.encode(), PAYLOAD.encode(), ((PAYLOAD, PAYLOAD.encode()),))
    (partition / f"{0:020d}.log").write_bytes(encode_batch([record]))
    text = folder / "some.yaml"
    text.write_text(json.dumps({PAYLOAD: {PAYLOAD: [PAYLOAD]}, "schema": PAYLOAD, "name": PAYLOAD}), "utf-8")
    return [log, settings, snapshot, partition, text]


def _line() -> str:
    return PAYLOAD.translate(dict.fromkeys(map(ord, "\r\n\u2028")))


def runs(leaf: Leaf, files: list[Path]) -> Iterator[tuple[list[str], tuple[str, ...]]]:
    """Yield the words of each run of a command and the formats to run it in.

    Hostile arguments and snapshots are tried in every format, then each option with a hostile value, and each flag with
    hostile arguments, in one format after the other.
    """
    arguments = [one for one in leaf.parameters if one.param_type_name == "argument"]
    options = [one for one in leaf.parameters if one.param_type_name != "argument" and "--output" not in one.opts]
    formats = leaf.formats or ("",)
    turn = cycle(formats)
    yield [f"--no-such-{PAYLOAD}"], (next(turn),)
    if leaf.name in SHOWING:
        yield from (([*SHOWING[leaf.name], "--", name], formats) for name in (PAYLOAD, *map(str, files)))
    if leaf.name in RUNNING:
        return
    if not arguments:
        yield [], formats
    tried = [["--", *(hostile for _ in arguments)] for hostile in [PAYLOAD, *map(str, files)] if arguments]
    for words in tried:
        yield words, formats
    if any("--snapshot" in one.opts for one in options):
        yield from ((["--snapshot", str(file)], formats) for file in files)
    for option in options:
        if getattr(option, "is_flag", False):
            if not UNTRIED_FLAGS & {*option.opts, *option.secondary_opts}:
                yield from (([option.opts[0], *words], (next(turn),)) for words in tried)
        elif _takes_text(option):
            yield [option.opts[0], PAYLOAD, *(tried[0] if tried else [])], (next(turn),)


def reads_files(leaf: Leaf, file: str = "x") -> list[list[str]]:
    """Return the words of runs that read a file: as each argument that is a path, and by each option with one."""
    arguments = [one for one in leaf.parameters if one.param_type_name == "argument"]
    path_words = ("FILE", "PATH", "DIR", "WORKLOAD", "RECORD", "BEFORE", "AFTER", "A", "B", "SYMPTOM")
    found = []
    if any(word in path_words for one in arguments for word in re.split(r"\W+", str(one.metavar))):
        found.append(["--", *(file for _ in arguments)])
    for option in leaf.parameters:
        is_output = option.opts[0].startswith(("--output", "--report", "--save", "--write", "--record", "--dir"))
        if option.param_type_name != "argument" and not is_output and str(option.metavar) in ("FILE", "PATH", "DIR"):
            needed = [file for one in arguments if one.required]
            found.append([option.opts[0], file, *(["--", *needed] if needed else [])])
    return found
