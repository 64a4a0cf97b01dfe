"""A directory like that of a Kafka release (`KAFKA_PATH`), for tests that call Kafka's own scripts."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final

from eosctl.lab.apache.java import MIB, prepare_runtime
from eosctl.lab.apache.releases import resolve_release

RELEASE: Final = "4.3.1"
HEAP_BYTES: Final = 256 * MIB
QUICK_START: Final = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
#: Scripts by their main classes.
SCRIPTS: Final = {
    "kafka-topics.sh": "org.apache.kafka.tools.TopicCommand",
    "kafka-acls.sh": "org.apache.kafka.tools.AclCommand",
    "kafka-console-producer.sh": "org.apache.kafka.tools.ConsoleProducer",
    "kafka-console-consumer.sh": "org.apache.kafka.tools.consumer.ConsoleConsumer",
}
#: Receives the class as its first argument, and more classes in CLASSPATH.
RUN_CLASS: Final = "kafka-run-class.sh"


def write_kafka_scripts(directory: Path) -> None:
    """Write `bin` and `libs`; the jars are those of Maven Central."""
    runtime = prepare_runtime(resolve_release(RELEASE))
    binaries, libraries = directory / "bin", directory / "libs"
    binaries.mkdir(parents=True, exist_ok=True)
    if not libraries.is_symlink():
        libraries.symlink_to(runtime.jars)
    for name, main_class in SCRIPTS.items():
        command = runtime.command(main_class, heap_bytes=HEAP_BYTES, options=QUICK_START)
        _write(binaries / name, shlex.join(command))
    _write(binaries / RUN_CLASS, f'{runtime.java} {" ".join(QUICK_START)} -cp "{libraries}/*:$CLASSPATH"')


def _write(path: Path, command: str) -> None:
    path.write_text(f'#!/bin/sh\nexec {command} "$@"\n', "utf-8")
    path.chmod(0o755)
