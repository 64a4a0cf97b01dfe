"""A failed log directory has the reason that the operating system gives, and the advice for it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from eosctl.logs.classifier.storage_errors import storage_error, storage_errors
from tests.logs.judging import judge

FAILED = (
    "[2026-11-20 10:00:01,101] ERROR Error while appending records to tolls-0 in dir /data/kafka "
    "(org.apache.kafka.storage.internals.log.LogDirFailureChannel)\n"
    "{}\n"
    "[2026-11-20 10:00:01,150] WARN [ReplicaManager broker=1] Stopping serving replicas in dir /data/kafka "
    "(kafka.server.ReplicaManager)\n"
)
CAUSES = {
    errno.EACCES: ("log-dir-permission-denied", "chown"),
    errno.EPERM: ("log-dir-operation-not-permitted", "chattr"),
    errno.ENFILE: ("open-files-of-the-host", "fs.file-max"),
    errno.EMFILE: ("limit-of-open-files", "LimitNOFILE"),
    errno.EDQUOT: ("log-dir-quota-exceeded", "quota"),
    errno.EROFS: ("log-dir-read-only", "mount"),
    errno.EIO: ("log-dir-failure", "Replace the disk"),
    errno.ENOSPC: ("log-dir-full", "Free space"),
    errno.ENOENT: ("log-dir-files-missing", "removed"),
    errno.EBUSY: ("files-held-by-another-process", "lsof"),
    errno.ESTALE: ("volume-not-reached", "Bring the volume back"),
    errno.ENOTCONN: ("volume-not-reached", "Bring the volume back"),
    errno.EUCLEAN: ("file-system-damaged", "xfs_repair"),
}
THROWN = (
    "java.nio.file.FileSystemException: /data/kafka/tolls-0/00000000000000004410.timeindex: {}",
    "java.io.IOException: {}",
    "java.io.FileNotFoundException: /data/kafka/tolls-0/00000000000000004410.log ({})",
)


@pytest.mark.parametrize("thrown", THROWN)
@pytest.mark.parametrize("number", CAUSES)
def test_each_error_of_the_system_has_its_advice(tmp_path: Path, number: int, thrown: str) -> None:
    (found,) = judge(tmp_path, {"server.log": FAILED.format(thrown.format(os.strerror(number)))})
    cause, advice = CAUSES[number]
    assert (found.root_cause, found.subject["log.dir"]) == (cause, "/data/kafka")
    assert advice in found.next_step


@pytest.mark.parametrize("one", [one for one in storage_errors() if one.words != ("",)], ids=lambda one: one.cause)
def test_the_words_of_each_error_are_read(tmp_path: Path, one: object) -> None:
    for word in getattr(one, "words", ()):
        thrown = f"java.nio.file.{word}: /data/a" if word.endswith("Exception") else f"java.io.IOException: {word}"
        if word.startswith("-"):
            thrown = f"java.nio.file.NoSuchFileException: /data/kafka/tolls-0.{'1f' * 16}{word}"
        if word == "AccessDenied":  # An open file denies the rename, on Windows.
            thrown = r"java.nio.file.AccessDeniedException: d:\kafka\tolls-0 -> d:\kafka\tolls-0.1f-delete"
        (found,) = judge(tmp_path, {"server.log": FAILED.format(thrown)})
        assert (word, found.root_cause) == (word, storage_error([word]).cause)


def test_a_full_volume_of_zookeeper_is_not_a_log_directory(tmp_path: Path) -> None:
    log = (
        "2026-02-17 16:18:31,020 ERROR Severe unrecoverable error, from thread : SyncThread:1 "
        "(org.apache.zookeeper.server.ZooKeeperCriticalThread) [SyncThread:1]\njava.io.IOException: {}\n"
        "\tat org.apache.zookeeper.server.persistence.FileTxnLog.commit(FileTxnLog.java:398)\n"
    )
    (found,) = judge(tmp_path, {"zookeeper-0.log": log.format("No space left on device")})
    assert (found.kind, found.root_cause) == ("server_ended_by_a_fault", "zookeeper-cannot-write")
    assert "No space left on device" in found.explanation and "replicas" not in found.explanation


def test_an_unknown_error_does_not_blame_the_disk(tmp_path: Path) -> None:
    (found,) = judge(
        tmp_path, {"server.log": FAILED.format("java.io.IOException: Value too large for defined data type")}
    )
    assert found.root_cause == "log-dir-failure"
    assert "Replace" not in found.next_step


def test_a_full_table_of_the_host_is_not_a_limit_of_the_process(tmp_path: Path) -> None:
    thrown = "[2026-11-20 10:00:01,101] ERROR Error while accepting connection (kafka.network.DataPlaneAcceptor)\n{}\n"
    (host,) = judge(tmp_path, {"a/server.log": thrown.format("java.io.IOException: Too many open files in system")})
    (process,) = judge(tmp_path / "b", {"b/server.log": thrown.format("java.io.IOException: Too many open files")})
    assert (host.root_cause, process.root_cause) == ("open-files-of-the-host", "limit-of-open-files")


def test_a_directory_that_fails_at_the_start_has_its_reason(tmp_path: Path) -> None:
    text = (
        "[2026-11-20 10:00:01,101] ERROR Failed to create or validate data directory /data/kafka "
        "(org.apache.kafka.storage.internals.log.LogDirFailureChannel)\n"
        "java.nio.file.AccessDeniedException: /data/kafka\n"
    )
    (found,) = judge(tmp_path, {"server.log": text})
    assert (found.root_cause, found.subject["log.dir"]) == ("log-dir-permission-denied", "/data/kafka")


@pytest.mark.parametrize(
    ("reason", "kind"),
    [("Permission denied", "state_directory_error"), ("Corruption: bad block", "state_store_corrupt")],
)
def test_a_store_that_the_system_refuses_is_not_damaged(tmp_path: Path, reason: str, kind: str) -> None:
    text = (
        "2026-11-20 10:00:01,101 ERROR [fold-StreamThread-1] org.apache.kafka.streams.KafkaStreams - stream-thread "
        "[fold-StreamThread-1] Encountered the following exception during processing\n"
        "org.apache.kafka.streams.errors.ProcessorStateException: Error opening store counts at location "
        "/var/lib/fold/fold/0_1/rocksdb/counts\n\tat a.B.c(B.java:1)\n"
        f"Caused by: org.rocksdb.RocksDBException: While open a file for lock: /var/lib/fold/LOCK: {reason}\n"
    )
    (found,) = judge(tmp_path, {"app.log": text})
    assert found.kind == kind
    assert ("remove the store" in found.next_step) is (kind == "state_store_corrupt")


def test_directories_that_fail_together_are_all_named(tmp_path: Path) -> None:
    text = "".join(
        FAILED.format(f"java.io.IOException: {reason}").replace("/data/kafka", f"/data/{number}")
        for number, reason in enumerate(("Permission denied", "Input/output error"))
    )
    (found,) = judge(tmp_path, {"server.log": text})
    assert found.subject["log.dirs"] == ("/data/0", "/data/1")
    assert "Permission denied" in found.explanation and "Input/output error" in found.explanation


@pytest.mark.parametrize(
    ("error", "thrown"),
    [
        ("Disk error while locking directory /data/kafka", "nio.file.AccessDeniedException: /data/kafka/.lock"),
        ("Error while writing to checkpoint file /data/kafka/t-4/leader-epoch-checkpoint", "io.IOException: {}"),
    ],
)
def test_each_record_names_the_directory_of_the_logs(error: str, thrown: str, tmp_path: Path) -> None:
    text = (
        f"[2026-11-20 10:00:01,101] ERROR {error} (kafka.server.LogDirFailureChannel)\n"
        f"java.{thrown.format(os.strerror(errno.EACCES))}\n"
        "[2026-11-20 10:00:01,150] ERROR Shutdown broker because none of the specified log dirs from /data/kafka can "
        "be created or validated (kafka.log.LogManager)\n"
    )
    (found,) = judge(tmp_path, {"server.log": text})
    assert (found.root_cause, found.subject["log.dir"]) == ("log-dir-permission-denied", "/data/kafka")
