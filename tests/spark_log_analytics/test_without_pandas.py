"""Executors need pyarrow and numpy, not pandas: a job runs while the workers cannot import it.

Spark's ``mapInArrow`` checks the release of pandas where the driver runs, so only the driver needs it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[2]
LOGS = ROOT / "tests" / "fixtures" / "logs" / "second-producer-392"
BLOCKED = 'raise ImportError("pandas is blocked")\n'
PROGRAM = """
import sys
from pathlib import Path
from spark_log_analytics.incidents import judge_events
from spark_log_analytics.main import main
from spark_log_analytics.rows import EVENT_COLUMNS, events_of
from spark_log_analytics.session import session
from eosctl.logs.incidents.timeline.times import timed
from eosctl.logs.scan import scan_paths

logs, out, blocked = sys.argv[1:]


def attempt(batches):
    import pyarrow

    for batch in batches:
        try:
            import pandas
        except ImportError:
            yield pyarrow.RecordBatch.from_pydict({"found": ["blocked"]})
        else:
            yield pyarrow.RecordBatch.from_pydict({"found": ["there"]})


with session(cores="1", settings={"spark.executorEnv.PYTHONPATH": blocked}) as spark:
    print([row.found for row in spark.range(1).mapInArrow(attempt, "found string").collect()])
    print(main([logs, "--out", out]))
    scan = scan_paths([Path(logs)])
    events = list(timed(scan.events, scan.sources))
    later = [event._replace(time_ms=event.time_ms + 90_000_000, offset=event.offset + 10**9) for event in events]
    frame = spark.createDataFrame([tuple(event) for event in (*events, *later)], EVENT_COLUMNS)
    judging = judge_events(frame, scan.sources, slice_events=len(events))
    print(len(judging.slices), judging.incidents.count())
"""


def test_executors_do_not_need_pandas(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="the spark extra is not installed")
    package = tmp_path / "blocked" / "pandas"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(BLOCKED)
    command = [sys.executable, "-c", PROGRAM, str(LOGS), str(tmp_path / "out"), str(package.parent)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=900)
    blocked, *_, status, judged = done.stdout.splitlines()
    assert (blocked, status) == ("['blocked']", "0"), done.stderr[-3000:]
    assert judged.split() == ["2", "6"]
