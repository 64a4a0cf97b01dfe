"""What an import contract cannot see: files, clocks, chance and exits, found in the syntax trees."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PURE_ROOMS = ("analysis", "checks", "capacity", "lab/history")
INJECTED_ROOMS = ("client", "sandbox", "lab", "runbooks", "services")

# The adapters that provide the machine's clock and randomness to all other modules.
ADAPTERS = {
    "eosctl/client/cloud_tokens.py": "tokens are valid by the wall clock of their issuer",
    "eosctl/client/tokens.py": "tokens are valid by the wall clock of their issuer",
    "eosctl/lab/apache/nodes.py": "waits for real processes",
    "eosctl/lab/apache/main.py": "a process of its own: gives the cluster the time of day and chance",
    "eosctl/lab/apache/node.py": "waits for real processes",
    "eosctl/sandbox/cluster.py": "the cluster on real sockets: gives its core the time of day",
    "eosctl/services/callbacks.py": "the default clock of every service",
    "eosctl/client/scram.py": "the default nonce of a login: a broker must not be able to predict it",
    "eosctl/sandbox/process": "the detached process: gives its core a clock and a seed",
    "eosctl/sandbox/workers/supervisor.py": "a cluster in several processes: its clock, and the cluster's id",
}
# A default generator of a parameter.
DEFAULT_GENERATORS = {"eosctl/client/client.py"}
UNSEEDED = "random.Random without a seed"
MAY_EXIT = (
    *(
        "eosctl/cli.py",
        "eosctl/__main__.py",
        "eosctl/sandbox/process/main.py",
        "eosctl/sandbox/workers/main.py",
        "eosctl/lab/apache/main.py",
        "spark_log_analytics/main.py",
    ),
    *("spark_log_analytics/kafka_data/main.py", "eosctl/demo/programs", "eosctl/lab/verify/drivers/librdkafka.py"),
)

CLOCK_CALLS = {
    *(f"time.{name}" for name in ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns")),
    *("time.process_time", "time.sleep", "time.localtime", "time.gmtime", "time.strftime"),
    *("datetime.now", "datetime.utcnow", "datetime.today", "date.today"),
    *("datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today", "datetime.date.today"),
}
CHANCE_CALLS = {
    *(f"random.{name}" for name in ("random", "randint", "randrange", "choice", "choices", "shuffle", "sample")),
    *(f"random.{name}" for name in ("uniform", "randbytes", "getrandbits", "seed", "gauss", "expovariate")),
    *("random.SystemRandom", "os.urandom", "uuid.uuid1", "uuid.uuid4"),
    *("secrets.token_bytes", "secrets.token_hex", "secrets.token_urlsafe", "secrets.choice", "secrets.randbelow"),
}
EXIT_CALLS = {"sys.exit", "os._exit", "os.abort", "exit", "quit"}
EXIT_WORDS = re.compile(r"\b_?exit\b|\babort\(|import.*\babort|\bquit\b|SystemExit|KeyboardInterrupt")
FILE_CALLS = {"open", "io.open", "print", "input", "breakpoint"}
FILE_METHODS = {
    *("read_text", "read_bytes", "write_text", "write_bytes", "open", "unlink", "mkdir", "rmdir", "touch", "exists"),
    *("is_file", "is_dir", "iterdir", "glob", "rglob", "stat", "rename", "symlink_to"),
}


def calls(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and dotted name of each call, with imported names spelled out in full.

    ``random.choice`` of a parameter called ``random`` comes out as ``.choice``: only an import makes a module.
    """
    full = dict(imported_names(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (name := dotted(node.func)):
            head, dot, rest = name.partition(".")
            yield node.lineno, f"{full.get(head, '' if dot else head)}{dot}{rest}"


def imported_names(tree: ast.AST) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                head = alias.name.partition(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (head, head)


def dotted(node: ast.expr) -> str:
    """Return ``a.b.c`` for such an expression; only the last part for a method of something computed; else nothing."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    elif parts:
        return f".{parts[0]}"
    return ".".join(reversed(parts))


def clock_and_chance(tree: ast.AST) -> list[str]:
    """Name each reading of a clock and each draw from a generator that was not passed in.

    A generator without a seed (``random.Random()``) is one too. A clock that is only named, as the default of a
    parameter, is injection and allowed.
    """
    banned = CLOCK_CALLS | CHANCE_CALLS
    found = [f"line {line}: {name}" for line, name in calls(tree) if name in banned]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and dotted(node.func) in ("random.Random", "Random"):
            found += [] if node.args or node.keywords else [f"line {node.lineno}: {UNSEEDED}"]
    return found


def files(tree: ast.AST) -> list[str]:
    """Name each call that touches a file or the terminal."""
    return [
        f"line {line}: {name}"
        for line, name in calls(tree)
        if name in FILE_CALLS or ("." in name and name.rpartition(".")[2] in FILE_METHODS)
    ]


def exits(tree: ast.AST) -> list[str]:
    """Name each place that ends the process."""
    found = [f"line {line}: {name}" for line, name in calls(tree) if name in EXIT_CALLS]
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and node.exc is not None:
            raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            if dotted(raised) in ("SystemExit", "KeyboardInterrupt"):
                found.append(f"line {node.lineno}: raise {dotted(raised)}")
    return found


def foreign_imports(tree: ast.AST, own: str) -> list[str]:
    """Name each import that is neither of the standard library nor msgspec nor of the own package."""
    modules = [
        (node.lineno, name)
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom) and not node.level
            else []
        )
    ]
    return [
        f"line {line}: {name}"
        for line, name in modules
        if name.partition(".")[0] not in {*sys.stdlib_module_names, "msgspec"}
        and name != own
        and not name.startswith(f"{own}.")
    ]


def sources(root: Path, *folders: str, words: re.Pattern[str] | None = None) -> Iterator[tuple[str, ast.AST]]:
    """Parse the modules of folders, or only those with such a word: most have none of the names that a rule bans."""
    for folder in folders:
        paths = sorted((root / folder).rglob("*.py")) if (root / folder).is_dir() else [root / folder]
        for path in paths:
            relative = path.relative_to(root).as_posix()
            if relative.startswith("eosctl/wire/generated/"):
                continue
            text = path.read_text("utf-8")
            if words is None or words.search(text):
                yield relative, ast.parse(text, relative)


def within(path: str, places: tuple[str, ...]) -> bool:
    return any(path == place or path.startswith(f"{place}/") for place in places)


@pytest.mark.quick
def test_pure_packages_use_no_files_clocks_or_randomness(project_root: Path) -> None:
    rooms = [f"eosctl/{room}" for room in PURE_ROOMS]
    found = {path: files(tree) + clock_and_chance(tree) for path, tree in sources(project_root, *rooms)}
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.quick
def test_time_and_chance_are_injected(project_root: Path) -> None:
    found = {
        path: [line for line in clock_and_chance(tree) if not (path in DEFAULT_GENERATORS and UNSEEDED in line)]
        for path, tree in sources(project_root, *(f"eosctl/{room}" for room in INJECTED_ROOMS))
        if not within(path, tuple(ADAPTERS))
    }
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_adapters_that_are_excepted_exist(project_root: Path) -> None:
    assert [path for path in (*ADAPTERS, *DEFAULT_GENERATORS) if not (project_root / path).exists()] == []


@pytest.mark.quick
def test_only_the_ends_of_the_program_exit(project_root: Path) -> None:
    found = {
        path: exits(tree)
        for path, tree in sources(project_root, "eosctl", "spark_log_analytics", words=EXIT_WORDS)
        if not within(path, MAY_EXIT)
    }
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_the_model_is_made_of_the_standard_library_and_msgspec(project_root: Path) -> None:
    found = {
        path: foreign_imports(tree, "eosctl.model")
        for path, tree in sources(project_root, "eosctl/model", "eosctl/errors.py")
    }
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "planted",
    [
        "import time\ntime.time()",
        "import time as clock\nclock.monotonic()",
        "from time import perf_counter\nperf_counter()",
        "from datetime import datetime, UTC\ndatetime.now(UTC)",
        "import datetime\ndatetime.datetime.now()",
        "import datetime as dt\ndt.datetime.utcnow()",
        "from datetime import date\ndate.today()",
        "import random\nrandom.random()",
        "from random import choice\nchoice([1])",
        "import random\nrandom.Random()",
        "from random import Random\nRandom()",
        "import os\nos.urandom(16)",
        "import uuid\nuuid.uuid4()",
        "def f(x, at=__import__('time')):\n    import time\n    return [time.sleep(1) for _ in x]",
    ],
)
def test_a_planted_clock_or_draw_is_seen(planted: str) -> None:
    assert len(clock_and_chance(ast.parse(planted))) == 1


@pytest.mark.parametrize(
    "innocent",
    [
        "import time\ndef wait(clock=time.monotonic): return clock()",
        "import random\nrandom.Random(7).random()",
        "def f(rng): return rng.random()",
        "from datetime import datetime, UTC\ndatetime.fromtimestamp(0, UTC)",
        "loop.time()",
        "self.runtime.random.randbytes(16)",
        "from random import Random\ndef f(random: Random): return random.getrandbits(8)",
    ],
)
def test_an_injected_clock_or_generator_is_not(innocent: str) -> None:
    assert clock_and_chance(ast.parse(innocent)) == []


@pytest.mark.parametrize(
    "planted",
    [
        "open('x')",
        "from pathlib import Path\nPath('x').read_text()",
        "def f(path): return path.exists()",
        "from importlib import resources\nresources.files('x').joinpath('y').read_bytes()",
        "print('x')",
    ],
)
def test_a_planted_file_access_is_seen(planted: str) -> None:
    assert len(files(ast.parse(planted))) == 1


@pytest.mark.parametrize("innocent", ["def glob(x): return x", "glob('*')", "''.join(['open'])", "record.opened()"])
def test_what_only_looks_like_a_file_is_not(innocent: str) -> None:
    assert files(ast.parse(innocent)) == []


@pytest.mark.parametrize(
    "planted",
    [
        "import sys\nsys.exit(3)",
        "from sys import exit as leave\nleave()",
        "import os\nos._exit(1)",
        "raise SystemExit",
        "raise SystemExit(2)",
        "exit()",
    ],
)
def test_a_planted_exit_is_seen(planted: str) -> None:
    assert EXIT_WORDS.search(planted)
    assert len(exits(ast.parse(planted))) == 1


@pytest.mark.parametrize("innocent", ["with a.exit(): pass", "def exit(x): return x", "raise ValueError('exit')"])
def test_what_only_looks_like_an_exit_is_not(innocent: str) -> None:
    assert exits(ast.parse(innocent)) == []


@pytest.mark.parametrize("planted", ["import yaml", "from eosctl.wire import errors", "import typer.main"])
def test_a_planted_foreign_import_is_seen(planted: str) -> None:
    assert len(foreign_imports(ast.parse(planted), "eosctl.model")) == 1


def test_own_and_standard_imports_are_not() -> None:
    innocent = "import json, os.path, msgspec\nfrom eosctl.model.secret import Secret\nfrom . import setting"
    assert foreign_imports(ast.parse(innocent), "eosctl.model") == []
