"""Extract the log templates of Kafka's releases.

``python -m scripts.log_templates REPOSITORY FILE RELEASE...`` reads the jars of a Maven repository's releases
(``~/.m2/repository``; fetch them with ``mvn dependency:get``) and writes the templates of the classes that matter for
exactly-once at WARN and above, with the first and the last of the releases that has each.
"""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from scripts.log_templates.calls import LogCall, find_log_calls
from scripts.log_templates.class_file import ClassFile

CLASSES: Final = (
    *("kafka/coordinator/transaction/", "org/apache/kafka/coordinator/transaction/"),
    *("kafka/coordinator/group/Group", "kafka/coordinator/group/CoordinatorLoaderImpl"),
    *("org/apache/kafka/coordinator/common/runtime/", "org/apache/kafka/coordinator/group/runtime/"),
    *("org/apache/kafka/coordinator/group/GroupMetadataManager", "org/apache/kafka/coordinator/group/GroupCoordinator"),
    *("org/apache/kafka/coordinator/group/OffsetMetadataManager", "org/apache/kafka/coordinator/group/classic/"),
    *("kafka/log/Log", "kafka/log/UnifiedLog", "kafka/log/LocalLog", "kafka/log/Producer", "kafka/cluster/Partition"),
    *(f"org/apache/kafka/storage/internals/log/{name}" for name in ("Log", "UnifiedLog", "LocalLog", "Producer")),
    *("kafka/server/ReplicaManager", "kafka/server/AddPartitionsToTxnManager", "org/apache/kafka/server/transaction/"),
    *("org/apache/kafka/controller/", "kafka/controller/KafkaController", "org/apache/kafka/raft/"),
    "org/apache/kafka/server/fault/",
    *("org/apache/kafka/clients/producer/", "org/apache/kafka/clients/NetworkClient"),
    *(f"org/apache/kafka/clients/consumer/internals/{name}Coordinator" for name in ("Abstract", "Consumer")),
    *("org/apache/kafka/clients/consumer/internals/CommitRequestManager", "org/apache/kafka/streams/KafkaStreams"),
    *("org/apache/kafka/clients/consumer/internals/AbstractHeartbeatRequestManager",),
    *(
        f"org/apache/kafka/streams/processor/internals/{name}"
        for name in (
            *("StreamThread", "GlobalStreamThread", "TaskManager", "StreamTask", "StandbyTask", "RecordCollectorImpl"),
            *("StreamsProducer", "StateDirectory", "ProcessorStateManager", "StoreChangelogReader"),
            *("DefaultStateUpdater", "ActiveTaskCreator", "GlobalStateManagerImpl", "StateManagerUtil"),
        )
    ),
    *(
        f"org/apache/kafka/connect/runtime/{name}"
        for name in (
            *("WorkerTask", "WorkerSourceTask", "AbstractWorkerSourceTask", "ExactlyOnceWorkerSourceTask"),
            *("WorkerSinkTask", "WorkerConnector", "SourceTaskOffsetCommitter", "Worker.", "SubmittedRecords"),
            "distributed/DistributedHerder",
        )
    ),
    *("org/apache/kafka/connect/storage/KafkaOffsetBackingStore",),
    *("org/apache/kafka/connect/storage/OffsetStorageWriter", "org/apache/kafka/connect/storage/ConnectorOffset"),
)
"""The classes of transactions, groups, storage, controllers, clients, Streams, and Connect, by their first letters."""


def main(arguments: Sequence[str]) -> None:
    """Write the templates, one a line: class, level, first and last release, template."""
    repository, target, releases = Path(arguments[0]).expanduser(), Path(arguments[1]), arguments[2:]
    found: dict[LogCall, list[str]] = {}
    for release in releases:
        for call in sorted(set(_calls(repository, release))):
            found.setdefault(call, []).append(release)
    lines = [
        "\t".join((call.class_name, call.level, known[0], known[-1], _on_one_line(call.template)))
        for call, known in sorted(found.items())
    ]
    target.write_text("\n".join(("class\tlevel\tfirst\tlast\ttemplate", *lines, "")), "utf-8")
    print(f"{len(lines)} templates of {len(releases)} releases.")


def _calls(repository: Path, release: str) -> Iterator[LogCall]:
    jars = sorted((repository / "org/apache/kafka").glob(f"*/{release}/*-{release}.jar"))
    if not jars:
        raise SystemExit(f"No jar of Kafka {release} below {repository}. Fetch it: mvn dependency:get")
    for jar in jars:
        with zipfile.ZipFile(jar) as archive:
            for name in archive.namelist():
                if name.endswith(".class") and name.startswith(CLASSES):
                    yield from find_log_calls(ClassFile(archive.read(name)))


def _on_one_line(template: str) -> str:
    return template.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")


if __name__ == "__main__":
    main(sys.argv[1:])
