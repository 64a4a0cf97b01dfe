"""Write the files that ``spark-submit`` needs: ``python -m spark_log_analytics.kafka_data.pack FOLDER``."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from spark_log_analytics.archive import SHIPPED_FOR_DATA, build_archive
from spark_log_analytics.kafka_data.environment import NAME, build_environment
from spark_log_analytics.submission import DATA_MAIN


def pack(folder: Path) -> tuple[Path, Path, Path]:
    """Write the code, the environment, and the job's program into a folder.

    Raises:
        OSError: The folder is not writable.
    """
    folder.mkdir(parents=True, exist_ok=True)
    code = build_archive(folder / "eosctl_logs.zip", SHIPPED_FOR_DATA)
    environment = build_environment(folder / f"{NAME}.tar.gz")
    return code, environment, Path(shutil.copy(DATA_MAIN, folder / "main.py"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the files that spark-submit needs.")
    parser.add_argument("folder", type=Path)
    for file in pack(parser.parse_args().folder):
        sys.stdout.write(f"{file}\n")
