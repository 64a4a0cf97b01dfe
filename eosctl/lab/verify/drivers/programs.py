"""Build and start the programs of other clients: Java with its jars, franz-go with its modules."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Final

from eosctl.errors import EosctlError
from eosctl.lab.apache.java import prepare_runtime
from eosctl.lab.apache.node import QUICK_START
from eosctl.lab.apache.releases import resolve_release
from eosctl.lab.engine import MissingTool
from eosctl.lab.verify.plan import ClientKind

_JAVA_RELEASES: Final = {ClientKind.JAVA: "4.3.1", ClientKind.JAVA_3_9: "3.9.2"}
_JAVA_SOURCES: Final = ("VerifyDriver.java", "DriverAccess.java")
_JAVA_MAIN: Final = "VerifyDriver"
_PYTHON_MODULE: Final = "eosctl.lab.verify.drivers.librdkafka"
_GO_FOLDER: Final = "franz_go"
_GO_FILES: Final = ("driver.go", "access.go", "go.mod", "go.sum")
_HEAP_BYTES: Final = 256 << 20
_BUILD_S: Final = 600


def prepare_driver(kind: ClientKind, scratch: Path) -> list[str]:
    """Build the program of a client and return its command.

    The first use fetches the client: jars through Maven, verified by the lab's checksums, or Go modules, verified by
    go.sum.

    Args:
        kind: The client.
        scratch: An empty folder that exists as long as the program runs.

    Raises:
        EosctlError: A tool is missing, or the client cannot be fetched.
    """
    if kind is ClientKind.LIBRDKAFKA:
        # Without -P, a file json.py in the current directory would be imported instead of Python's own.
        return [sys.executable, "-P", "-m", _PYTHON_MODULE]
    if kind is ClientKind.FRANZ_GO:
        return _build_go(scratch)
    runtime = prepare_runtime(resolve_release(_JAVA_RELEASES[kind]))
    sources = [str(scratch / name) for name in _JAVA_SOURCES]
    for path in sources:
        Path(path).write_bytes(_data(Path(path).name))
    classes = f"{runtime.jars}/*"
    compiler = (_tool("javac", "openjdk-17-jdk-headless"), *(f"-J{option}" for option in QUICK_START), "-proc:none")
    _build([*compiler, "-d", str(scratch), "-cp", classes, *sources], scratch)
    # Its clients' log lines would report the run's faults, which are in the history.
    # Few calls; optimize the start-up.
    options = (f"-Xmx{_HEAP_BYTES >> 20}m", *QUICK_START)
    return [str(runtime.java), *options, "-cp", f"{scratch}:{classes}", _JAVA_MAIN]


def _build_go(scratch: Path) -> list[str]:
    for name in _GO_FILES:
        (scratch / name).write_bytes(_data(f"{_GO_FOLDER}/{name}"))
    program = scratch / "driver"
    _build([_tool("go", "golang-go"), "build", "-mod=readonly", "-o", str(program), "."], scratch)
    return [str(program)]


def _data(name: str) -> bytes:
    return resources.files(__package__).joinpath(name).read_bytes()


def _tool(name: str, package: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise MissingTool(
            name,
            "The program that speaks with this client has to be compiled here.",
            f"{name} is not on the PATH.",
            f"Install it, e.g. apt-get install {package}.",
        )
    return found


def _build(command: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_BUILD_S, check=False
        )
        said = done.stderr.strip().splitlines()[-1:] if done.returncode else None
    except subprocess.TimeoutExpired:
        said = [f"It did not end within {_BUILD_S // 60} minutes."]
    if said is not None:
        raise EosctlError(
            f"{Path(command[0]).name} could not build the program that speaks with this client.",
            (said or ["It said nothing."])[0],
            "Check its release, and the network if modules have to be fetched.",
        )
