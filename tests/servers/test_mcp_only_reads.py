"""No tool changes anything: shown on the wire, in files, in loaded modules, and by what a call may contain."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from eosctl.collect.allowed import READ_ONLY_APIS
from eosctl.servers.tools import TOOLS
from eosctl.testing import SandboxThread
from tests.commands.conftest import run_scenario
from tests.commands.doctor.recording_proxy import RecordingProxy
from tests.commands.doctor.test_reading_only import contents
from tests.lab.scenarios.stage.hanging import run_hanging
from tests.servers.conftest import program
from tests.servers.mcp_client import call

ARGUMENTS = {
    "doctor": {"profile", "snapshot", "paths", "logs", "zone"},
    "hanging": {"profile", "snapshot", "show_all"},
    "explain": {"question", "language"},
    "lint": {"paths", "kafka_version"},
    "logs_report": {"paths", "zone", "baseline", "max_events"},
    "decode": {"files", "decoder", "records", "max_lines"},
}
"""Every argument; none names an address, a credential, or a file to write."""
MORE: list[tuple[str, dict[str, Any]]] = [
    ("doctor", {"bootstrap": "127.0.0.1:1"}),
    ("doctor", {"save_snapshot": "x.json"}),
    ("doctor", {"paths": ["-"]}),
    ("hanging", {"yes": True}),
    ("hanging", {"profile": "prod", "command_config": "c.properties"}),
    ("lint", {"paths": ["a.properties"], "write_baseline": "b.json"}),
    ("logs_report", {"paths": ["kafka://127.0.0.1:1/logs"]}),
    ("logs_report", {"paths": ["/dev/null"], "baseline": ["https://example.org/log"]}),
    ("decode", {"files": ["-"]}),
    ("decode", {"files": ["x.log"], "max_lines": 1_000_000}),
]
"""Calls that ask for more than their tool may do."""
SECRET = "hunter2-Xk29"

IN_ONE_PROCESS = """
import json, sys
from eosctl.servers.answers import call
from eosctl.servers.tools import TOOLS
from eosctl.services.connection import Connection
codes = [call(TOOLS, name, given, Connection()).exit_code for name, given in json.loads(sys.argv[1])]
print(json.dumps([codes, [name for name in sys.modules if name.startswith("eosctl.actions")]]))
"""


def test_arguments_name_no_address_and_no_file_to_write() -> None:
    assert {name: set(tool.input_schema["properties"]) for name, tool in TOOLS.items()} == ARGUMENTS


def test_a_cluster_gets_read_requests_only_and_stays_the_same() -> None:
    settings = {"transaction.partition.verification.enable": "false"}
    with SandboxThread(brokers=3, fast=False, config=settings) as cluster:
        report = run_scenario(cluster.bootstrap, run_hanging)
        before = contents(cluster)
        with RecordingProxy(cluster.bootstrap) as proxy:
            doctor, hanging, refused, explained = call(
                ("doctor", {}),
                ("hanging", {"show_all": True}),
                ("abort", {"topic": report.partition.topic, "yes": True}),
                ("explain", {"question": f"abort producer {report.producer.producer_id}"}),
                options=("-b", proxy.bootstrap),
            )
            assert proxy.apis <= READ_ONLY_APIS
            assert len(proxy.requests) > 10
        assert contents(cluster) == before
    assert [one["check_id"] for one in doctor.json["items"] if one["severity"] == "critical"] == ["EOS-TXN-001"]
    assert [one["status"] for one in hanging.json["items"]] == ["hanging"]
    assert "3 brokers" in doctor.coverage
    assert (refused.is_error, refused.json["what"]) == (True, "Unknown tool 'abort'.")
    assert not explained.is_error or explained.json["exit_code"] in (2, 3)


def test_a_call_that_asks_for_more_is_refused() -> None:
    """One server gets all calls: a refused call has no influence on the next."""
    found = zip(MORE, call(*MORE), strict=True)
    answers = [(asked, one.is_error, one.json["exit_code"], one.json["type"]) for asked, one in found]
    assert answers == [(asked, True, 2, "UsageError") for asked in MORE]


def test_no_file_changes_and_no_action_is_loaded(tmp_path: Path) -> None:
    config = tmp_path / "app.properties"
    config.write_text("transactional.id=pay\nacks=1\n")
    log = tmp_path / "server.log"
    log.write_text("[2026-11-20 10:00:00,000] INFO [Producer] ProducerFencedException (kafka)\n")
    calls = [
        ("doctor", {"paths": [str(config)], "logs": [str(log)]}),
        ("doctor", {"snapshot": "examples/hanging.json.gz"}),
        ("hanging", {"snapshot": "examples/hanging.json.gz"}),
        ("explain", {"question": "INVALID_PRODUCER_EPOCH"}),
        ("lint", {"paths": [str(tmp_path)]}),
        ("logs_report", {"paths": [str(log)]}),
        ("decode", {"files": ["tests/fixtures/storage/fenced-1"], "decoder": "segment", "records": True}),
    ]
    assert {name for name, _ in calls} == set(TOOLS)
    before = digests(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", IN_ONE_PROCESS, json.dumps(calls)],
        capture_output=True, text=True, check=True, env=program()[2],
    )  # fmt: skip
    codes, actions = json.loads(done.stdout)
    assert 1 not in codes
    assert actions == []
    assert digests(tmp_path) == before


def digests(folder: Path) -> dict[str, str]:
    """Return every file of a folder with a digest of its content."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_secrets_are_masked_in_results_and_in_errors(tmp_path: Path) -> None:
    config = tmp_path / "app.properties"
    jaas = f'org.apache.kafka.common.security.plain.PlainLoginModule required username="a" password="{SECRET}";'
    config.write_text(f"transactional.id=pay\nacks=1\nssl.keystore.password={SECRET}\nsasl.jaas.config={jaas}\n")
    log = tmp_path / "server.log"
    log.write_text(f"[2026-11-20 10:00:00,000] ERROR login failed: sasl.password={SECRET} (org.apache.kafka.Client)\n")
    found = call(
        ("lint", {"paths": [str(config)]}),
        ("doctor", {"paths": [str(config)], "logs": [str(log)]}),
        ("logs_report", {"paths": [str(log)]}),
        ("explain", {"question": f"what is password={SECRET}"}),
        ("hanging", {"profile": f"password={SECRET}"}),
    )
    assert not any(SECRET in f"{one.text}{one.coverage}{one.json}" for one in found)
    assert found[0].json["items"]
