"""The suite of rskafka, which Cargo runs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from scripts.client_suites.clusters import ClusterPlan, run_limited
from scripts.client_suites.outcomes import Outcomes, chosen, completed, read_cargo
from scripts.client_suites.suite import Place


@dataclass(frozen=True)
class RskafkaSuite:
    """The integration tests of rskafka."""

    cluster: ClusterPlan
    name: str = "rskafka"
    repository: str = "influxdata/rskafka"
    limit_s: int = 600

    def build(self, place: Place) -> None:
        """Compile the tests with the installed toolchain."""
        (place.source / "rust-toolchain.toml").unlink(missing_ok=True)
        subprocess.run([*self._cargo(), "--no-run"], cwd=place.source, env=self._environment(place), check=True)

    def run(self, place: Place, tests: Sequence[str] | None) -> Outcomes:
        """Run the tests in one process of each file."""
        command = [*self._cargo(), "--no-fail-fast", "--", *(tests or ()), *(("--exact",) if tests else ())]
        output = run_limited(command, place.source, self._environment(place), self.limit_s, place.log(self.name))
        outcomes = read_cargo(output)
        return outcomes if tests is None else completed(tests, chosen(outcomes, tests))

    def _environment(self, place: Place) -> dict[str, str]:
        own = {
            "CARGO_TARGET_DIR": str(place.work / "target"),
            "TEST_INTEGRATION": "1",
            "TEST_BROKER_IMPL": "kafka",
            "KAFKA_CONNECT": self.cluster.bootstrap,
        }
        return os.environ | own

    @staticmethod
    def _cargo() -> tuple[str, ...]:
        return ("cargo", "test", "--features", "full", "--tests")


RSKAFKA: Final = RskafkaSuite(ClusterPlan(9692, brokers=3, settings={"auto.create.topics.enable": "false"}))
