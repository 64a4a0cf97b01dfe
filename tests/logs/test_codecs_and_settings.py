"""Clients without the library of a codec, with a setting that their library refuses, or with old metadata."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

CODECS = {
    "java": (
        "2026-02-03 09:00:00,250 ERROR [main] c.s.Reader - Consumer exception\n"
        "org.apache.kafka.common.KafkaException: Received exception when fetching the next record from parcels-4. If "
        "needed, please seek past the record to continue consumption.\n"
        "\tat org.apache.kafka.clients.consumer.internals.Fetcher.poll(Fetcher.java:1)\n"
        "Caused by: java.lang.UnsatisfiedLinkError: /tmp/snappy-1.1.10-libsnappyjava.so: Error loading shared library "
        "ld-linux-x86-64.so.2: No such file or directory\n"
    ),
    "zstd": (
        "2026-02-03 09:00:00,250 ERROR [sender] o.a.k.c.p.i.Sender - [Producer clientId=p] Uncaught error in kafka "
        "producer I/O thread: \njava.lang.NoClassDefFoundError: Could not initialize class com.github.luben.zstd."
        "ZstdOutputStream\n"
    ),
    "python": (
        "2026-02-03 09:00:00,250 ERROR reader: failed\nTraceback (most recent call last):\n"
        '  File "r.py", line 2, in <module>\n    for one in consumer:\n'
        "kafka.errors.UnsupportedCodecError: UnsupportedCodecError: Libraries for lz4 compression codec not found\n"
    ),
    "kafkajs": (
        '{"level":"ERROR","timestamp":"2026-02-03T09:00:00.250Z","logger":"kafkajs","message":"[Consumer] Crash: '
        'KafkaJSNotImplemented: LZ4 compression not implemented","groupId":"parcels"}\n'
    ),
    "kafka-go": (
        'time="2026-02-03T09:00:00Z" level=error msg="read failed" error="the compression code is invalid or its codec '
        'has not been imported" topic=parcels partition=4\n'
    ),
    "sarama": (
        "2026/02/03 09:00:00 Error from consumer: kafka: error while consuming parcels/4: kafka: error decoding "
        "packet: invalid compression specified (4)\n"
    ),
    "librdkafka": (
        '2026-02-03T09:00:00Z ERROR Unsupported value "zstd" for configuration property "compression.codec": libzstd '
        "not available at build time\n"
    ),
}
SETTINGS = {
    "vector": (
        (
            '{"timestamp":"2026-02-03T09:00:00Z","level":"ERROR","message":"Configuration error.","error":'
            '"creating kafka producer failed: No such configuration property: \\"linger\\" linger 5"}\n'
        ),
        "linger",
    ),
    "python": (
        (
            "2026-02-03 09:00:00,250 ERROR worker: stopped\nTraceback (most recent call last):\n"
            '  File "w.py", line 2, in <module>\n    c = Consumer(conf)\n'
            'cimpl.KafkaException: KafkaError{code=_INVALID_ARG,val=-186,str="No such configuration property: '
            '"fetch.wait.max""}\n'
        ),
        "fetch.wait.max",
    ),
    "java": (
        (
            "2026-02-03 09:00:00,250 ERROR [main] c.s.App - Application run failed\norg.apache.kafka.common.config."
            "ConfigException: Invalid value two for configuration acks: String must be one of: all, -1, 0, 1\n"
        ),
        "acks",
    ),
    "dotnet": (
        (
            'Unhandled exception. System.InvalidOperationException: No such configuration property: "queue.size"\n'
            "   at Confluent.Kafka.Impl.SafeConfigHandle.Set(String name, String value)\n"
        ),
        "queue.size",
    ),
}
BEHIND = (
    '{{"level":"warn","ts":17701{:05}.5,"msg":"metadata leader epoch went backwards, ignoring update","topic":'
    '"parcels","partition":4,"current_leader":2,"current_leader_epoch":12,"new_leader":1,"new_leader_epoch":11}}\n'
)


@pytest.mark.parametrize("client", CODECS)
def test_a_codec_without_its_library_is_the_cause(client: str, tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"shop.log": CODECS[client]})
    assert (found.kind, found.root_cause) == ("compression_codec_missing", "codec-library-not-loaded")
    if "parcels" in CODECS[client] and client != "kafkajs":
        assert found.subject["topic-partition"] == "parcels-4"


@pytest.mark.parametrize("client", SETTINGS)
def test_a_refused_setting_is_named(client: str, tmp_path: Path) -> None:
    text, setting = SETTINGS[client]
    (found,) = judge(tmp_path, {"shop.log": text})
    assert found.kind == "client_setting_refused" and f"the setting {setting}." in found.explanation


def test_a_setting_without_effect_is_not_refused(tmp_path: Path) -> None:
    text = (
        "%5|1770109200.100|CONFWARN|app#producer-1| [thrd:app]: Configuration property group.id is a consumer property "
        "and will be ignored by this producer instance\n"
    )
    assert judge(tmp_path, {"app.log": text}) == []


@pytest.mark.parametrize(("times", "count"), [((0, 20, 40), 1), ((0, 1), 0)], ids=["loop", "leader change"])
def test_metadata_that_stays_behind(times: tuple[int, ...], count: int, tmp_path: Path) -> None:
    text = "".join(BEHIND.format(one) for one in times) + '{"level":"info","ts":1770109200.5,"msg":"working"}\n'
    found = judge(tmp_path, {"go.log": text})
    assert [one.kind for one in found] == ["metadata_behind"] * count
    assert all(one.subject["topic-partition"] == "parcels-4" for one in found)


def test_pods_that_are_restarted_without_end(tmp_path: Path) -> None:
    line = (
        "2026-02-03 09:{:02}:{:02} INFO  KafkaRoller:504 - Reconciliation #{}(timer) Kafka(shop/main): Rolling Pod "
        "main-kafka-{}/{} due to [Pod has old revision]\n"
    )
    rolls = [line.format(minute, pod * 20, 40 + minute, pod, pod) for minute in (0, 2, 4) for pod in (0, 1)]
    (found,) = judge(tmp_path, {"operator.log": "".join(rolls)})
    assert (found.kind, found.subject["component"]) == ("pods_rolled_again", "shop/main")
    assert found.subject["pods"] == ("main-kafka-0", "main-kafka-1")
    assert "Pod has old revision" in found.explanation
    (tmp_path / "operator.log").unlink()
    assert judge(tmp_path, {"operator-2.log": "".join(rolls[:4])}) == []
