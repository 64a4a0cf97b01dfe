"""Compare the capacity formulas' predictions with the sandbox and real Kafka, as a Markdown table.

    python benchmarks/calibration.py            the sandbox alone
    python benchmarks/calibration.py --apache   and one node each of Kafka 3.9.2, 4.3.1, and 4.4.0 (Java 17, Maven)

Each prediction uses only the load's description.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
from pathlib import Path

from benchmarks.calibrating.broker import measure_broker
from benchmarks.calibrating.visibility import compare_visibility, measure_visibility
from eosctl.client import connect
from eosctl.lab.apache.nodes import ApacheConfig, ApacheNodes
from eosctl.lab.calibration import Bench, find_level, run_trial, trials_for
from eosctl.model.calibration import CalibrationRow
from eosctl.model.client_config import ClientConfig
from eosctl.render.capacity.calibration import predicted_text
from eosctl.render.capacity.plan import figure_text
from eosctl.services.callbacks import system_now_ms
from eosctl.settings.clusters.endpoints import parse_endpoints
from eosctl.testing import SandboxThread

SETTINGS = {"offsets.topic.num.partitions": "5", "transaction.state.log.num.partitions": "5"}
INTERVALS_MS = (100, 500)
#: Duration of the transaction's end and the fetch, on loopback with one replica.
FIXED_MS = 5.0


async def measure(bootstrap: str) -> list[CalibrationRow]:
    config = ClientConfig(parse_endpoints(bootstrap, "benchmark"))
    rows: list[CalibrationRow] = []
    async with connect(config) as client, connect(config) as reading:
        level = await find_level(client)
        bench = Bench(client, system_now_ms)
        for trial in trials_for(level):
            rows += await run_trial(bench, trial, level)
        for interval_ms in INTERVALS_MS if level.transaction_version == 2 else ():
            name = f"eosctl-calibrate-wait-{interval_ms}"
            waits = await measure_visibility(
                bench, reading, name, random.Random(1), interval_ms=interval_ms, transaction_count=60
            )
            rows += compare_visibility(waits, interval_ms, FIXED_MS)
    return rows


def show(title: str, rows: list[CalibrationRow]) -> None:
    print(f"\n### {title}\n\n| Trial | Figure | Predicted | Measured | Off by | |\n|---|---|---|---|---|---|")
    for row in rows:
        predicted = predicted_text(row.predicted, row.at_most, row.unit)
        measured = figure_text(row.measured, row.unit)
        trial = row.trial.removeprefix("eosctl-calibrate-")
        verdict = "holds" if row.holds else "OFF"
        error = "in range" if row.at_most is not None and row.holds else f"{row.error:+.1%}"
        print(f"| {trial} | {row.figure} | {predicted} | {measured} | {error} | {verdict} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--apache", action="store_true", help="run real Kafka too")
    chosen = parser.parse_args()
    with SandboxThread() as cluster:
        show("Sandbox, one broker, emulating 4.3", asyncio.run(measure(cluster.bootstrap)))
    for version in ("3.9.2", "4.3.1", "4.4.0") if chosen.apache else ():
        with tempfile.TemporaryDirectory() as directory:
            engine = ApacheNodes(ApacheConfig(version, settings=SETTINGS), Path(directory), random.Random())
            asyncio.run(engine.up())
            try:
                show(f"Apache Kafka {version}, one node", asyncio.run(measure(engine.bootstrap)))
            finally:
                asyncio.run(engine.down())
        with tempfile.TemporaryDirectory() as directory:
            # Kafka's own JVM options; the engine's quick-start ones would make threads slower and heaps larger.
            config = ApacheConfig(version, settings=SETTINGS, heap_bytes=1 << 30, jvm_options=("-XX:+UseG1GC",))
            engine = ApacheNodes(config, Path(directory), random.Random())
            asyncio.run(engine.up())
            try:
                rows = list(asyncio.run(measure_broker(engine, system_now_ms)))
                show(f"The broker itself: Apache Kafka {version}", rows)
            finally:
                asyncio.run(engine.down())


if __name__ == "__main__":
    main()
