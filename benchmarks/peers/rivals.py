"""One-broker clusters to measure: the sandbox, real Kafka (with Java and Maven), kfake (with Go)."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks.peers.measuring import Rival
from eosctl.errors import EosctlError, UsageError, unknown_name
from eosctl.lab.apache.nodes import ApacheConfig, ApacheNodes
from eosctl.lab.apache.process import read_record
from eosctl.sandbox.process import manage
from eosctl.sandbox.process.spec import SandboxSpec

HEAP_BYTES: Final = 1 << 30
ENGINES: Final = ("sandbox", "apache", "kfake")
#: https://github.com/twmb/franz-go/tree/master/pkg/kfake, in the version named in the table.
KFAKE_VERSION: Final = "v0.0.0-20260918054303-01f206a7e32c"
#: The version required by that commit of kfake; its own requirement is older.
FRANZ_GO_VERSION: Final = "v1.22.2"
_BUILD_TIMEOUT_S: Final = 600
_KFAKE_MAIN: Final = """\
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/twmb/franz-go/pkg/kfake"
)

// Serves one broker until its standard input ends.
func main() {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(cluster.ListenAddrs()[0])
	io.Copy(io.Discard, os.Stdin)
}
"""


def missing_for(engine: str) -> str:
    """Return what an engine lacks; empty if it can run."""
    if engine == "apache":
        return ", ".join(tool for tool in ("java", "mvn") if shutil.which(tool) is None)
    return "go" if engine == "kfake" and shutil.which("go") is None else ""


@contextmanager
def running(engine: str, directory: Path, kafka: str, rng: random.Random) -> Iterator[Rival]:
    """Run an engine in a directory for the duration of the context.

    Args:
        engine: One of `ENGINES`.
        directory: Its files; the caller deletes it.
        kafka: The release of the engine `apache`.
        rng: Chooses its ports.

    Raises:
        UsageError: The engine is unknown.
        EosctlError: It cannot be built or started.
    """
    check_engines((engine,))
    match engine:
        case "sandbox":
            with _sandbox(directory) as rival:
                yield rival
        case "apache":
            with _apache(directory, kafka, rng) as rival:
                yield rival
        case _:
            with _kfake(directory) as rival:
                yield rival


def check_engines(names: Iterable[str]) -> None:
    """Reject unknown engines.

    Raises:
        UsageError: An engine is unknown.
    """
    for name in names:
        if name not in ENGINES:
            raise unknown_name("engine", name, ENGINES, "Choose from them")


@contextmanager
def _sandbox(directory: Path) -> Iterator[Rival]:
    spec = SandboxSpec(f"bench-{os.getpid()}", str(directory / "data"), ephemeral=True)
    sandbox = manage.start(spec)
    try:
        yield Rival("sandbox", sandbox.bootstrap, sandbox.pid)
    finally:
        manage.stop(sandbox)


@contextmanager
def _apache(directory: Path, kafka: str, rng: random.Random) -> Iterator[Rival]:
    # The options of production brokers; the quick-start ones disable the compiler.
    config = ApacheConfig(kafka, heap_bytes=HEAP_BYTES, jvm_options=("-XX:+UseG1GC",))
    engine = ApacheNodes(config, directory, rng)
    try:
        asyncio.run(engine.up())
        (record,) = engine.records().values()
        identity = read_record(record)
        if identity is None:
            raise EosctlError(f"The node of {engine.name} has ended.", "Its process is gone.", "Leave it out.")
        yield Rival(engine.name, engine.bootstrap, identity.pid)
    finally:
        asyncio.run(engine.down())


@contextmanager
def _kfake(directory: Path) -> Iterator[Rival]:
    program = _build_kfake(directory)
    with subprocess.Popen([str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            address = process.stdout.readline().strip() if process.stdout is not None else ""
            if not address:
                raise EosctlError("kfake did not start.", "It printed no address.", "Leave --engine kfake out.")
            yield Rival("kfake", address, process.pid)
        finally:
            process.terminate()


def _build_kfake(directory: Path) -> Path:
    """Build the server with Go's module cache.

    Raises:
        EosctlError: Go is missing, or the build fails.
    """
    go = shutil.which("go")
    if go is None:
        raise UsageError("kfake cannot be built.", "Go is not on the PATH.", "Install Go or leave it out.")
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "main.go").write_text(_KFAKE_MAIN, encoding="utf-8")
    environment = os.environ | {"GOFLAGS": "-mod=mod", "GOWORK": "off"}
    for words in (
        ("mod", "init", "kfakeserver"),
        ("get", f"github.com/twmb/franz-go/pkg/kfake@{KFAKE_VERSION}", f"github.com/twmb/franz-go@{FRANZ_GO_VERSION}"),
        ("build", "-o", "kfakeserver", "."),
    ):
        done = subprocess.run(
            [go, *words],
            cwd=directory,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=_BUILD_TIMEOUT_S,
        )
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or ["it gave no reason"]
            raise EosctlError(f"go {words[0]} {words[1]} failed.", last[0], "Leave --engine kfake out.")
    return directory / "kfakeserver"


@contextmanager
def workplace() -> Iterator[Path]:
    """Yield a directory that is deleted after the measurement."""
    with tempfile.TemporaryDirectory(prefix="eosctl-bench-") as directory:
        yield Path(directory)
