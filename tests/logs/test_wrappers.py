"""Wrappers of containers and other carriers, and compression, are removed from logs."""

from __future__ import annotations

import bz2
import gzip
import json
import tracemalloc
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import cramjam
import pytest

from eosctl.logs.files.sources import SAMPLE_BYTES, SourceFile, inspect_file
from eosctl.logs.scan import scan_paths

HEAD = (
    "[2026-11-21 09:31:19,670] ERROR Error processing append operation on partition a-1 (kafka.server.ReplicaManager)"
)
CAUSE = "org.apache.kafka.common.errors.NotEnoughReplicasException: The size of the current ISR"
NEXT = "[2026-11-21 09:31:20,670] INFO done (a.B)"


def cri(line: str, stream: str = "stdout", flag: str = "F") -> str:
    return f"2026-11-21T09:31:19.670123456Z {stream} {flag} {line}\n"


def docker(line: str) -> str:
    return json.dumps({"log": line, "stream": "stdout", "time": "2026-11-21T09:31:19.670Z"}) + "\n"


WRAPPED = {
    "cri": cri(HEAD) + cri(CAUSE) + cri(NEXT),
    "cri in pieces": cri(HEAD[:40], flag="P") + cri(HEAD[40:]) + cri(CAUSE) + cri(NEXT),
    "cri with another stream between": cri(HEAD) + cri("noise", "stderr") + cri(CAUSE) + cri(NEXT),
    "docker": docker(HEAD + "\n") + docker(CAUSE + "\n") + docker(NEXT + "\n"),
    "kubectl": "".join(f"2026-11-21T09:31:19.670123456Z {line}\n" for line in (HEAD, CAUSE, NEXT)),
    "kubectl, prefix": "".join(f"[pod/kafka-7d9f/kafka] {line}\n" for line in (HEAD, CAUSE, NEXT)),
    "compose, timestamps": "".join(
        f"kafka-1  | 2026-11-21T09:31:19.670123456Z {line}\n" for line in (HEAD, CAUSE, NEXT)
    ),
    "pm2": "".join(f"0|kafka-7d9f  | {line}\n" for line in (HEAD, CAUSE, NEXT)),
    "stern": "".join(f"kafka-7d9f kafka {line}\n" for line in (HEAD, CAUSE, NEXT)),
    "compose": f"kafka-1  | {HEAD}\nkafka-1  | {CAUSE}\nkafka-1  | {NEXT}\n",
    "syslog": "".join(f"Nov 21 09:31:19 host-7 kafka[4711]: {line}\n" for line in (HEAD, CAUSE, NEXT)),
    "syslog 5424": "".join(
        f"<14>1 2026-11-21T09:31:19Z host-7 kafka 4711 - - {line}\n" for line in (HEAD, CAUSE, NEXT)
    ),
    "journald": "".join(
        json.dumps({"__REALTIME_TIMESTAMP": "1795253479670000", "_SYSTEMD_UNIT": "kafka.service", "MESSAGE": line})
        + "\n"
        for line in (HEAD, CAUSE, NEXT)
    ),
    "fluent bit": "".join(
        json.dumps(
            {"date": 1795253479.67, "stream": "stdout", "log": f"{line}\n", "kubernetes": {"pod_name": "kafka-0"}}
        )
        + "\n"
        for line in (HEAD, CAUSE, NEXT)
    ),
    "fluent bit without line ends": "".join(
        json.dumps({"date": 1795253479.67, "stream": "stdout", "log": line, "kubernetes": {"pod_name": "kafka-0"}})
        + "\n"
        for line in (HEAD, CAUSE, NEXT)
    ),
    "docker without line ends": "".join(
        json.dumps({"log": line, "stream": "stdout", "time": "2026-11-21T09:31:19.670Z"}) + "\n"
        for line in (HEAD, CAUSE, NEXT)
    ),
    "google": "".join(
        json.dumps({"timestamp": "2026-11-21T09:31:19.670Z", "severity": "INFO", "textPayload": text}) + "\n"
        for text in (f"{HEAD}\n{CAUSE}", NEXT)
    ),
    "loki": "".join(
        json.dumps({"labels": {"pod": "kafka-0"}, "line": line, "timestamp": "2026-11-21T09:31:19.670Z"}) + "\n"
        for line in (HEAD, CAUSE, NEXT)
    ),
    "coloured compose": "".join(f"\x1b[36mkafka-1  | \x1b[0m{line}\n" for line in (HEAD, CAUSE, NEXT)),
    "colours": f"\x1b[31m{HEAD}\x1b[0m\n{CAUSE}\n{NEXT}\n",
}


@pytest.mark.parametrize("name", WRAPPED)
def test_a_record_is_complete_in_every_wrapper(name: str, tmp_path: Path) -> None:
    path = tmp_path / "pod.log"
    path.write_text(WRAPPED[name])
    (event,) = scan_paths([path]).events
    assert (event.category, event.offset, event.line) == ("NOT_ENOUGH_REPLICAS", 0, 1)
    assert event.exception is not None
    assert event.fields["partition"] == "a-1"


CARRIERS: dict[str, Callable[[str], str]] = {
    "cri": lambda line: cri(line).rstrip("\n"),
    "docker": lambda line: docker(line + "\n").rstrip("\n"),
    "kubectl": lambda line: f"2026-11-21T09:31:19.670123456Z {line}",
    "prefix": lambda line: f"[pod/kafka-7d9f/kafka] {line}",
    "compose": lambda line: f"kafka-1  | {line}",
    "stern": lambda line: f"kafka-7d9f kafka {line}",
    "syslog": lambda line: f"Nov 21 09:31:19 host-7 kafka[4711]: {line}",
    "loki": lambda line: json.dumps({"labels": {"pod": "kafka-0"}, "line": line, "timestamp": "2026-11-21T09:31:19Z"}),
}


@pytest.mark.parametrize("depth", [2, 3])
def test_wrappers_may_be_nested(depth: int, tmp_path: Path) -> None:
    for inside_out in permutations(CARRIERS, depth):
        lines = [HEAD, CAUSE, NEXT]
        for carrier in inside_out:
            lines = list(map(CARRIERS[carrier], lines))
        path = tmp_path / f"{'-'.join(inside_out)}.log"
        path.write_text("\n".join(lines) + "\n")
        (event,) = scan_paths([path]).events
        assert (event.category, event.offset, event.line) == ("NOT_ENOUGH_REPLICAS", 0, 1), inside_out
        assert event.fields["partition"] == "a-1", inside_out


def test_a_nested_service_is_separated_from_others(tmp_path: Path) -> None:
    lines = [cri(f"ERROR:app:{name} is full").rstrip("\n") for name in ("cart", "till")]
    text = "".join(f"{name}-1  | {line}\n" for name, line in zip(("cart", "till"), lines, strict=True))
    (tmp_path / "all.log").write_text(text)
    assert [event.application for event in scan_paths([tmp_path]).events] == ["cart-1", "till-1"]


def test_a_record_without_a_timestamp_gets_its_wrappers(tmp_path: Path) -> None:
    path = tmp_path / "pod.log"
    path.write_text(cri("ERROR:stock_push:cannot push") + cri("INFO:stock_push:on and on"))
    (event,) = scan_paths([path]).events
    assert event.time_ms == 1_795_253_479_670


def test_settings_printed_at_start_do_not_hide_a_wrapper(tmp_path: Path) -> None:
    settings = "".join(f"2026-11-21T09:31:19.670123456Z \tsetting.{number} = null\n" for number in range(100))
    (tmp_path / "app.log").write_text(WRAPPED["kubectl"] + settings)
    scan = scan_paths([tmp_path])
    assert (scan.sources[0].layout, scan.sources[0].event_count) == ("kubectl+kafka", 2)


@pytest.mark.parametrize(("inner", "is_wrapped"), [("\tat a.B.run(B.java:7)", True), ("", False)])
def test_timestamps_in_a_stack_trace_do_not_start_records(inner: str, is_wrapped: bool, tmp_path: Path) -> None:
    lines = ("[main] ERROR a.B - failed", "java.lang.IllegalStateException: failed", *([inner] * bool(inner)))
    text = "".join(f"2026-11-21T09:31:19.670123456Z {line}\n" for line in lines)
    (tmp_path / "app.log").write_text(text)
    scan = scan_paths([tmp_path])
    assert scan.sources[0].layout.startswith("kubectl+") == is_wrapped
    assert scan.events[0].time_ms == 1_795_253_479_670


def test_bare_syslog_lines_are_records_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "messages"
    path.write_text("Nov 21 09:31:19 host-7 kernel: Out of memory: Killed process 4711 (java)\n" * 2)
    scan = scan_paths([path])
    assert [(event.category, event.logger) for event in scan.events] == [("OOM_KILLED", "kernel")] * 2
    assert scan.sources[0].unmatched_line_count == 0


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "zstd": lambda data: bytes(cramjam.zstd.compress(data)),
    "lz4": lambda data: bytes(cramjam.lz4.compress(data)),
    "snappy": lambda data: bytes(cramjam.snappy.compress(data)),
}


@pytest.mark.parametrize("codec", PACKERS)
def test_compressed_files_are_recognized_by_their_first_bytes(codec: str, tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_bytes(PACKERS[codec](f"{HEAD}\n{CAUSE}\n{NEXT}\n".encode()))
    assert [event.category for event in scan_paths([path]).events] == ["NOT_ENOUGH_REPLICAS"]


def test_a_truncated_archive_is_read_up_to_its_end_and_reported(tmp_path: Path) -> None:
    path = tmp_path / "server.log.gz"
    path.write_bytes(gzip.compress(f"{HEAD}\n{CAUSE}\n{NEXT}\n".encode() * 2000)[:-20])
    scan = scan_paths([path])
    assert scan.events
    assert "gzip" in scan.sources[0].error


def test_a_program_with_a_field_named_log_is_not_a_carrier(tmp_path: Path) -> None:
    entry = {"time": "2026-11-21T09:31:19.670Z", "level": "error", "log": "2026 orders lost", "logger": "shop"}
    (tmp_path / "shop.log").write_text(json.dumps(entry) + "\n")
    (event,) = scan_paths([tmp_path]).events
    assert (event.level, event.logger, event.message) == ("ERROR", "shop", "2026 orders lost")


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress], ids=["gzip", "bzip2"])
def test_an_inspection_inflates_only_a_sample(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "app.log.gz"
    path.write_bytes(compress(f"{HEAD}\n{NEXT}\n".encode() * 30_000))
    inspect_file(path)
    tracemalloc.start()
    source = inspect_file(path)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(source, SourceFile)
    assert source.verdict.has_headers
    assert peak_bytes < 10 * SAMPLE_BYTES
