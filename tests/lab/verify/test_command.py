"""``eosctl verify`` as people and programs see it, against a sandbox on loopback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eosctl.testing import SandboxThread
from tests.commands.conftest import Done, eosctl

pytestmark = pytest.mark.usefixtures("own_home")
QUICK = ("--duration", "2s", "--rate", "10", "--ids", "1", "--partitions", "2", "--workload", "bank", "--seed", "7")


def run(kafka: SandboxThread, *arguments: str) -> Done:
    return eosctl("verify", "run", "-b", kafka.bootstrap, *QUICK, *arguments)


def test_a_run_reports_its_verdict_and_can_be_replayed(kafka: SandboxThread) -> None:
    done = run(kafka)
    assert done.code == 0, done.err
    assert done.out.startswith("clean: no anomaly in ")
    assert "this is evidence, not proof" in done.out.splitlines()[0]
    run_id = next(line.split()[1] for line in done.out.splitlines() if line.startswith("  run "))

    shown = eosctl("verify", "show", run_id, "-o", "json")
    assert shown.code == 0
    (item,) = shown.json["items"]
    assert shown.json["schema"] == "eosctl.verification"
    assert (item["verdict"], item["seed"], item["workloads"], item["run_id"]) == ("clean", 7, ["bank"], run_id)
    assert item["committed_count"] > 0

    exported = eosctl("verify", "export", run_id)
    assert exported.code == 0
    assert exported.out.startswith("{:index 0, :type :invoke, ")

    again = eosctl("verify", "replay", run_id, "-o", "json")
    assert again.code == 0, again.err
    assert again.json["items"][0]["seed"] == 7
    assert again.json["items"][0]["run_id"] != run_id


def test_topics_are_removed_unless_they_are_to_be_kept(kafka: SandboxThread) -> None:
    def topics() -> set[str]:
        return {partition["topic"] for partition in kafka.status()["partitions"]}

    assert run(kafka, "--prefix", "gone").code == 0
    assert run(kafka, "--prefix", "kept", "--keep").code == 0
    assert "kept-bank" in topics()
    assert "gone-bank" not in topics()
    refused = run(kafka, "--prefix", "kept")
    assert refused.code == 2
    assert "kept-bank exists already" in refused.err


def test_every_format_reports_the_same(kafka: SandboxThread, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    done = run(kafka, "-o", "html", "--output-file", str(file))
    assert done.code == 0, done.err
    page = file.read_text()
    assert "evidence, not proof" in page
    assert "http-equiv" in page
    assert "<script" not in page
    run_id = Path(done.err.split("run: ")[1].split()[0]).name
    markdown = eosctl("verify", "show", run_id, "-o", "markdown").out
    assert markdown.startswith("# clean: no anomaly in ")
    assert "| whole run |" in markdown
    assert "verdict: clean" in eosctl("verify", "show", run_id, "-o", "yaml").out


def test_links_of_other_clusters_need_the_cluster_id(kafka: SandboxThread) -> None:
    refused = run(kafka, "--nemesis", "links")
    assert refused.code == 2
    cluster_id = kafka.status()["cluster_id"]
    assert f"--i-own-this-cluster {cluster_id}" in refused.err
    assert run(kafka, "--nemesis", "links", "--i-own-this-cluster", "another").code == 2
    allowed = run(
        kafka,
        "--nemesis",
        "links",
        "--duration",
        "3s",
        "--fault-gap",
        "200ms",
        "--i-own-this-cluster",
        cluster_id,
        "-o",
        "json",
    )
    assert allowed.code == 0, allowed.err
    (item,) = allowed.json["items"]
    assert item["fault_count"] > 0
    assert item["coverage"]["met_count"] > 0
    assert len(item["faults"]) >= item["fault_count"]


def test_brokers_of_a_foreign_cluster_are_out_of_reach(kafka: SandboxThread) -> None:
    done = run(kafka, "--nemesis", "brokers", "--i-own-this-cluster", kafka.status()["cluster_id"])
    assert done.code == 2
    assert "--command-nemesis PROGRAM" in done.err


def test_a_protected_profile_is_never_disturbed(kafka: SandboxThread) -> None:
    added = eosctl("profile", "add", "live", "--protected", "--bootstrap-server", kafka.bootstrap)
    assert added.code == 0, added.err
    cluster_id = kafka.status()["cluster_id"]
    done = eosctl(
        "verify", "run", "--profile", "live", *QUICK, "--nemesis", "links", "--i-own-this-cluster", cluster_id
    )
    assert done.code == 2
    assert "Profile live is protected" in done.err
    watched = eosctl("verify", "run", "--profile", "live", *QUICK)
    assert watched.code == 0, watched.err


def test_a_cluster_of_its_own_is_disturbed_without_asking() -> None:
    done = eosctl(
        "verify",
        "run",
        "--engine",
        "embedded",
        *QUICK,
        "--nemesis",
        "brokers",
        "--fault",
        "slow",
        "--fault-gap",
        "300ms",
        "-o",
        "json",
    )
    assert done.code == 0, done.err
    (item,) = done.json["items"]
    assert item["cluster"] == "a sandbox of its own: 3 brokers as 4.4"
    assert item["fault_count"] > 0
    assert item["refused_faults"] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--workload", "chaos"), "--workload 'chaos' is not known"),
        (("--clients", "kafkajs"), "--clients 'kafkajs' is not known"),
        (("--nemesis", "storm"), "--nemesis 'storm' is not known"),
        (("--nemesis", "none", "--nemesis", "links"), "goes with no other"),
        (("--engine", "embedded"), "--engine and a cluster were both given"),
        (("--fault", "kill"), "Faults need --nemesis"),
    ],
)
def test_orders_that_make_no_sense_are_refused(kafka: SandboxThread, arguments: tuple[str, ...], message: str) -> None:
    done = run(kafka, *arguments)
    assert done.code == 2
    assert message in done.err


def test_link_faults_are_rejected_for_clients_with_own_links(kafka: SandboxThread) -> None:
    owned = ("--i-own-this-cluster", kafka.status()["cluster_id"])
    for clients in ("java", "librdkafka"):
        done = run(kafka, "--clients", clients, "--nemesis", "links", *owned)
        assert (done.code, f"links cannot reach {clients}" in done.err) == (2, True), done.err


def test_engines_that_do_not_exist_are_refused() -> None:
    done = eosctl("verify", "run", "--engine", "2.8.0", *QUICK)
    assert done.code == 2
    assert "no engine '2.8.0'" in done.err


def test_an_unknown_run_is_refused() -> None:
    for command in ("show", "replay"):
        done = eosctl("verify", command, "nothing")
        assert done.code == 2
        assert "There is no run 'nothing'" in done.err


def test_a_run_with_an_anomaly_ends_with_3_and_shows_the_witness(kafka: SandboxThread) -> None:
    done = run(kafka)
    folder = Path(done.err.split("run: ")[1].split()[0])
    lines = (folder / "history.jsonl").read_text().splitlines()
    drained = next(json.loads(line)["partition"] for line in lines if json.loads(line)["event"] == "Drained")
    torn = next(json.loads(line)["value"] for line in lines if json.loads(line)["event"] == "Polled")
    kept = [line for line in lines if not (json.loads(line)["event"] == "Polled" and json.loads(line)["value"] == torn)]
    (folder / "history.jsonl").write_text("\n".join(kept) + "\n")
    assert drained
    shown = eosctl("verify", "show", str(folder))
    assert shown.code == 3
    assert shown.out.startswith("anomalies: ")
    assert "torn-transaction" in shown.out
    assert torn in shown.out
    page = eosctl("verify", "show", str(folder), "-o", "html").out
    assert "<svg" in page
    assert "torn-transaction" in page


def test_known_bugs_are_switched_in_a_cluster_of_its_own_alone(kafka: SandboxThread) -> None:
    assert run(kafka, "--bug", "kafka-20734=off").code == 2
    done = eosctl("verify", "run", "--engine", "embedded", "--brokers", "1", "--bug", "kafka-20734=off", *QUICK)
    assert done.code == 0, done.err
    unknown = eosctl("verify", "run", "--engine", "embedded", "--brokers", "1", "--bug", "kafka-1", *QUICK)
    assert unknown.code == 2
    assert "Unknown bug 'kafka-1'" in unknown.err
