"""Errors of disks in the kernel's log: alone, and as the cause of what a broker on the same machine cannot read."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.severity import Severity
from tests.logs.judging import judge

KERNEL = "Feb  3 09:00:0{} {} kernel: [41201.118827] {}\n"
FAILED_DIR = (
    "[2026-02-03 09:00:04,000] ERROR Error while appending records to tiles-3 in dir /srv/d7 "
    "(org.apache.kafka.storage.internals.log.LogDirFailureChannel)\n"
    "java.io.IOException: Input/output error\n"
    "[2026-02-03 09:00:04,100] WARN [ReplicaManager broker=7] Stopping serving replicas in dir /srv/d7 "
    "(kafka.server.ReplicaManager)\n"
)
ERRORS = {
    "I/O": ("blk_update_request: I/O error, dev sdd, sector 918220 op 0x1:(WRITE) flags 0x800 phys_seg 1", "sdd"),
    "medium": ("critical medium error, dev sdd, sector 918220 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2", "sdd"),
    "buffer": ("Buffer I/O error on dev dm-3, logical block 77, lost async page write", "dm-3"),
    "XFS": ("XFS (nvme1n1): log I/O error -5", "nvme1n1"),
    "EXT4": ("EXT4-fs error (device sdd1): ext4_wait_block_bitmap:582: comm kafka: Cannot read block bitmap", "sdd1"),
    "RAID": ("md/raid10:md0: Disk failure on sdd1, disabling device.", "sdd1"),
}
HEALTHY = [
    "blk_update_request: I/O error, dev sr0, sector 0 op 0x0:(READ) flags 0x0 phys_seg 1 prio class 0",
    "critical target error, dev sdd, sector 2 op 0x3:(DISCARD) flags 0x800 phys_seg 1 prio class 0",
    "XFS (sdd1): Mounting V5 Filesystem",
    "EXT4-fs (sdd1): mounted filesystem with ordered data mode. Opts: errors=remount-ro",
    "sd 2:0:2:0: [sdd] Attached SCSI disk",
]


@pytest.mark.parametrize("name", ERRORS)
def test_a_kernel_alone_reports_its_disk(name: str, tmp_path: Path) -> None:
    text, device = ERRORS[name]
    (one,) = judge(tmp_path, {"kern.log": KERNEL.format(1, "kb-7", text)})
    assert (one.kind, one.severity) == ("device_failed", Severity.ERROR)
    assert dict(one.subject) == {"device": device, "host": "kb-7"}


def test_the_time_of_dmesg_is_read(tmp_path: Path) -> None:
    text = f"[Tue Feb  3 09:00:01 2026] {ERRORS['I/O'][0]}\n"
    (one,) = judge(tmp_path, {"dmesg.txt": text})
    assert (one.kind, one.subject["device"], one.t_start_ms) == ("device_failed", "sdd", 1_770_109_201_000)


@pytest.mark.parametrize("text", HEALTHY)
def test_a_healthy_kernel_is_silent(text: str, tmp_path: Path) -> None:
    assert judge(tmp_path, {"kern.log": KERNEL.format(1, "kb-7", text)}) == []


@pytest.mark.parametrize("server", ["kb-7/server.log", "kb-7-server.log", "server.log"])
def test_a_disk_is_the_cause_of_a_failed_directory(server: str, tmp_path: Path) -> None:
    kernel = "2026-02-03T09:00:02+00:00 kb-7 kernel: XFS (nvme1n1): log I/O error -5\n"
    (one,) = judge(tmp_path, {"kern.log": kernel, server: FAILED_DIR})
    assert (one.kind, one.subject["device"], one.subject["broker"]) == ("log_dir_failure", "nvme1n1", "7")
    assert "the kernel of kb-7 reports errors of nvme1n1" in one.explanation
    assert one.next_step.startswith("Replace the disk")


def test_a_disk_of_another_machine_is_not_the_cause(tmp_path: Path) -> None:
    kernel = "2026-02-03T09:00:02+00:00 kb-9 kernel: XFS (nvme1n1): log I/O error -5\n"
    other = "[2026-02-03 09:00:00,000] INFO [KafkaServer id=9] started (kafka.server.KafkaServer)\n"
    found = judge(tmp_path, {"kern.log": kernel, "kb-7-server.log": FAILED_DIR, "kb-9-server.log": other})
    assert {one.kind for one in found} >= {"device_failed", "log_dir_failure"}


def test_an_error_of_the_day_before_is_not_the_cause(tmp_path: Path) -> None:
    kernel = "2026-02-02T09:00:02+00:00 kb-7 kernel: XFS (nvme1n1): log I/O error -5\n"
    found = judge(tmp_path, {"kern.log": kernel, "kb-7-server.log": FAILED_DIR})
    assert sorted(one.kind for one in found) == ["device_failed", "log_dir_failure"]
