"""Lines with a time but no other part of a log record are other data, not evidence of health."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.log_findings import Recognition
from eosctl.services.log_findings import collect_log_findings

MEASURED = "2026-11-20T10:00:0{},12.5,OK\n"
ORDER = '{{"time":"2026-11-20T10:00:0{}Z","order":1,"status":"paid"}}\n'
TABLE = "timestamp,level,amount\n"
ROW = "2026-11-01 10:00:0{},INFO,11.9\n"
PERFORMANCE = "start.time, end.time, data.consumed.in.MB, MB.sec, rebalance.time.ms\n"
RUN = "2026-11-20 10:00:0{}:000, 2026-11-20 10:00:10:000, 95.3674, 9.5, 3000\n"
VERIFIED = '{{"timestamp":176363280010{},"name":"producer_send_success","key":null,"topic":"t","offset":1}}\n'


def recognition(folder: Path, text: str) -> Recognition:
    path = folder / "some.txt"
    path.write_text(text, encoding="utf-8")
    (only,) = collect_log_findings([path]).coverage
    return only.recognition


def many(line: str) -> str:
    return "".join(line.format(number) for number in range(9))


@pytest.mark.parametrize(
    "text",
    [many(MEASURED), many(ORDER), TABLE + many(ROW), PERFORMANCE + many(RUN), many(VERIFIED)],
    ids=["measurements", "orders", "table", "performance", "verifiable-producer"],
)
def test_data_with_times_is_not_a_log(text: str, tmp_path: Path) -> None:
    assert recognition(tmp_path, text) is Recognition.NONE


@pytest.mark.parametrize(
    "line",
    [
        "2026-11-20 10:00:0{} joined the consumer group payments\n",
        "2026-11-20 10:00:0{} [main] loaded 5 rates\n",
        "2026-11-20 10:00:0{} com.acme.Rates loaded 5 rates\n",
        "2026-11-20 10:00:0{} warning: 5 rates are old\n",
        '{{"time":"2026-11-20T10:00:0{}Z","level":"info","event":"loaded"}}\n',
        '{{"time":"2026-11-20T10:00:0{}Z","message":"loaded 5 rates"}}\n',
    ],
)
def test_one_sign_of_a_record_is_enough(line: str, tmp_path: Path) -> None:
    assert recognition(tmp_path, many(line)) is Recognition.MOST


def test_a_table_of_messages_is_read(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_text(
        'time,severity,text\n2026-11-20T10:00:00Z,CRITICAL,"disk gone"\n2026-11-20T10:00:01Z,INFO,"all is well"\n'
    )
    findings = collect_log_findings([path])
    assert findings.coverage[0].recognition is Recognition.MOST
    (records,) = findings.unexplained
    assert "disk gone" in records.records[0].text


def test_only_records_in_the_catalog_count_in_data(tmp_path: Path) -> None:
    failed = (
        '{"timestamp":1763632800100,"name":"producer_send_error","exception":"class '
        'org.apache.kafka.common.errors.ProducerFencedException","message":"There is a newer producer"}\n'
    )
    assert recognition(tmp_path, many(VERIFIED) + failed) is Recognition.LITTLE
