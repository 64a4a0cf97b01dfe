"""A directory like that of a Kafka release (`KAFKA_PATH`), for tests that call Kafka's own scripts."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from eosctl.lab.apache.java import prepare_runtime
from eosctl.lab.apache.releases import resolve_release

RELEASE: Final = "4.3.1"
#: Scripts by their main classes; kafka-run-class.sh receives the class as its first argument.
SCRIPTS: Final = {
    "kafka-topics.sh": "org.apache.kafka.tools.TopicCommand",
    "kafka-acls.sh": "org.apache.kafka.tools.AclCommand",
    "kafka-run-class.sh": "",
}


def write_kafka_scripts(directory: Path) -> None:
    """Write `bin` and `libs`; the jars are those of Maven Central."""
    runtime = prepare_runtime(resolve_release(RELEASE))
    binaries, libraries = directory / "bin", directory / "libs"
    binaries.mkdir(parents=True, exist_ok=True)
    if not libraries.is_symlink():
        libraries.symlink_to(runtime.jars)
    for name, main_class in SCRIPTS.items():
        path = binaries / name
        java = f'{runtime.java} -Xmx256m -XX:+UseSerialGC -cp "{libraries}/*:$CLASSPATH"'
        path.write_text(f'#!/bin/sh\nexec {java} {main_class} "$@"\n', "utf-8")
        path.chmod(0o755)
