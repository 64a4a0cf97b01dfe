"""Clusters of one broker to measure: the sandbox, real Kafka where Java and Maven are, kfake where Go is."""

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
from eosctl.lab.apache.engine import ApacheConfig, ApacheEngine
from eosctl.lab.apache.process import read_record
from eosctl.sandbox.process import manage
from eosctl.sandbox.process.spec import SandboxSpec

HEAP_BYTES: Final = 1 << 30
ENGINES: Final = ("sandbox", "apache", "kfake")
#: https://github.com/twmb/franz-go/tree/master/pkg/kfake, the version that the table names.
KFAKE_VERSION: Final = "v0.0.0-20260918054303-01f206a7e32c"
#: What that commit of kfake needs; its own requirement names an older one.
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
    """Say what an engine needs that is not here; empty when it can run."""
    if engine == "apache":
        return ", ".join(tool for tool in ("java", "mvn") if shutil.which(tool) is None)
    return "go" if engine == "kfake" and shutil.which("go") is None else ""


@contextmanager
def running(engine: str, directory: Path, kafka: str, rng: random.Random) -> Iterator[Rival]:
    """Run an engine in a directory of its own while the context lasts.

    Args:
        engine: One of `ENGINES`.
        directory: Where it keeps its files; the caller removes it.
        kafka: The release of the engine `apache`.
        rng: Chooses its ports.

    Raises:
        UsageError: There is no such engine.
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
    """Refuse a name that is none of `ENGINES`.

    Raises:
        UsageError: There is no such engine.
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
    # The options that a broker is started with in production; the quick-start ones switch the compiler off.
    config = ApacheConfig(kafka, heap_bytes=HEAP_BYTES, jvm_options=("-XX:+UseG1GC",))
    engine = ApacheEngine(config, directory, rng)
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
                raise EosctlError("kfake did not start.", "It told no address.", "Leave --engine kfake out.")
            yield Rival("kfake", address, process.pid)
        finally:
            process.terminate()


def _build_kfake(directory: Path) -> Path:
    """Build the server with Go's own module cache.

    Raises:
        EosctlError: Go is missing, or says no.
    """
    go = shutil.which("go")
    if go is None:
        raise UsageError("kfake cannot be built.", "There is no go on the PATH.", "Install Go or leave it out.")
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
    """Give a directory that goes when the measurement is over."""
    with tempfile.TemporaryDirectory(prefix="eosctl-bench-") as directory:
        yield Path(directory)
