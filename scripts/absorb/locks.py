"""Write the list of jars that the lab holds a release of real Kafka to: `eosctl/lab/apache/jars/<release>.lock`.

    python -m scripts.absorb.locks RELEASE...

The releases are those of `eosctl.lab.apache.releases`. Maven resolves the jars; each line is a SHA-256 and the jar's
place in a Maven repository.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

from eosctl.lab.apache.maven import COPY_GOAL, render_pom
from eosctl.lab.apache.releases import RELEASES, KafkaRelease

LOCKS = Path(__file__).resolve().parents[2] / "eosctl" / "lab" / "apache" / "jars"


def main(arguments: list[str]) -> int:
    """Write the lists, and return the exit status."""
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    for version in arguments:
        lines = _resolve(RELEASES[version])
        (LOCKS / f"{version}.lock").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        print(f"{version}: {len(lines)} jars")
    return 0


def _resolve(release: KafkaRelease) -> list[str]:
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "pom.xml").write_text(render_pom(release), encoding="utf-8")
        jars = Path(scratch) / "jars"
        subprocess.run(
            [
                *("mvn", "-B", "-q", "-C", COPY_GOAL, "-DincludeScope=runtime"),
                *(f"-DoutputDirectory={jars}", "-Dmdep.useRepositoryLayout=true"),
            ],
            cwd=scratch,
            check=True,
        )
        return [
            f"{hashlib.sha256(jar.read_bytes()).hexdigest()}  {jar.relative_to(jars)}"
            for jar in sorted(jars.rglob("*.jar"), key=lambda jar: jar.name)
        ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
