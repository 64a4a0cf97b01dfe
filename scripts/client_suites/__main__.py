"""Run the own tests of other clients against the sandbox, and against real Kafka what does not pass there.

    python -m scripts.client_suites --sources FOLDER [--work FOLDER] [SUITE...]

A run takes hours. In a given work folder (or EOSCTL_CLIENT_WORK), the results of suites stay, with their commit and
time, and a later run of all suites runs those that have none; named suites run again.

The folder (or EOSCTL_CLIENT_SOURCES) contains the fetched sources as `owner/name` or `owner+name`, e.g.
`twmb/franz-go`. Go, Rust, gcc, RapidJSON, Java 17, and Maven are needed, and package registries for what the clients
depend on. A suite without source has not run, which is a failure. Results are also written to EOSCTL_PROOF_DETAILS, if
set, after each suite. The exit status is 0 when every suite ran and none of them differs.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from scripts.client_suites.clusters import running
from scripts.client_suites.compare import Comparison, Run, compare
from scripts.client_suites.go_modules import FRANZ_GO, KAFKA_GO, SARAMA
from scripts.client_suites.librdkafka import LIBRDKAFKA
from scripts.client_suites.outcomes import Outcomes
from scripts.client_suites.python_packages import AIOKAFKA, KAFKA_PYTHON
from scripts.client_suites.results import SuiteResult, begin_of_run, details_of, keep_result, kept_result
from scripts.client_suites.rskafka import RSKAFKA
from scripts.client_suites.suite import Place, Suite
from scripts.prove.runs import DETAILS

SUITES: Final[Sequence[Suite]] = (FRANZ_GO, *LIBRDKAFKA, SARAMA, KAFKA_GO, RSKAFKA, KAFKA_PYTHON, AIOKAFKA)
SOURCES: Final = "EOSCTL_CLIENT_SOURCES"
WORK: Final = "EOSCTL_CLIENT_WORK"


def main(arguments: Sequence[str]) -> int:
    """Run the suites; return 0 if nothing differs."""
    parser = argparse.ArgumentParser(prog="client_suites")
    parser.add_argument("--sources", type=Path, default=os.environ.get(SOURCES))
    parser.add_argument("--work", type=Path, default=os.environ.get(WORK))
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=", ".join(suite.name for suite in SUITES))
    given = parser.parse_args(arguments)
    chosen = [suite for suite in SUITES if not given.suites or suite.name in given.suites]
    if given.sources is None or len(chosen) < len(set(given.suites)):
        parser.error(f"name the folder of the sources ({SOURCES}) and suites that exist")
    found: dict[str, object] = {}
    equal = True
    with tempfile.TemporaryDirectory(prefix="client-suites-") as folder:
        work = Path(given.work or folder)
        for suite in chosen:
            kept = None if given.suites else kept_result(work / suite.name)
            result = kept or run_suite(suite, Path(given.sources), work)
            equal = equal and isinstance(result, SuiteResult) and result.comparison.is_equal
            found[suite.name] = details_of(result)
            print(summary(suite.name, result), flush=True)
            if DETAILS in os.environ:
                Path(os.environ[DETAILS]).write_text(json.dumps(found), "utf-8")
    return 0 if equal else 1


def run_suite(suite: Suite, sources: Path, folder: Path) -> SuiteResult | str:
    """Build and run a suite; return its results, or why it did not run."""
    source = next((path for path in source_paths(sources, suite.repository) if path.is_dir()), None)
    if source is None:
        return f"{sources} does not contain {suite.repository}"
    work = folder.resolve() / suite.name
    work.mkdir(parents=True, exist_ok=True)
    place = Place(copied(source, folder.resolve()), work)
    try:
        begin = begin_of_run()
        suite.build(place)
        comparison = compare(_runs_on(suite, place, "sandbox"), _runs_on(suite, place, "kafka"))
        return keep_result(work, SuiteResult(*begin, comparison))
    except (OSError, subprocess.CalledProcessError) as error:
        return str(error)


def copied(source: Path, folder: Path) -> Path:
    """Return a copy of a fetched source, in which its builds may write; the suites of a client share it."""
    target = folder / "sources" / source.name
    if not target.exists():
        shutil.copytree(source, target, symlinks=True)
    return target


def source_paths(sources: Path, repository: str) -> tuple[Path, ...]:
    """Return where the source of a repository may be."""
    return sources / repository, sources / repository.replace("/", "+")


def _runs_on(suite: Suite, place: Place, engine: str) -> Run:
    def run(tests: Sequence[str] | None) -> Outcomes:
        here = place._replace(engine=engine)
        if suite.cluster is None:
            return suite.run(here, tests)
        with running(suite.cluster, engine, place.work / "state"):
            return suite.run(here, tests)

    return run


def summary(name: str, result: SuiteResult | str) -> str:
    """Return the line of a suite."""
    if isinstance(result, str):
        return f"{name}: not run: {result}"
    return f"{name}: {counts_of(result.comparison)}"


def counts_of(result: Comparison) -> str:
    """Return the numbers of a suite, and what differs."""
    counted = f"{result.passed} of {result.tests} passed, {len(result.failed)} failed, {len(result.skipped)} skipped"
    common = f"{len(result.failed_on_kafka)} fail on real Kafka, too"
    return f"{counted}; {common}; {len(result.differing)} differ: {' '.join(result.differing) or 'none'}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
