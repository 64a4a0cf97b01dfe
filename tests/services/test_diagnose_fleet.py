"""One row for each cluster of several profiles, and one exit code."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from eosctl.errors import ClusterUnreachable, EosctlError, ExitCode, UsageError
from eosctl.findings.fleet import ClusterRow, FleetFinding, common_exit_code
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.render.diagnosis.fleet import fleet_columns, render_fleet
from eosctl.services import diagnose_fleet as fleet
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.collect_evidence import EvidenceRequest
from eosctl.services.connection import Connection
from eosctl.services.diagnose_fleet import FleetRequest, diagnose_fleet, is_pattern, matching_profiles, read_fleet
from eosctl.services.profiles import NewProfile, add
from tests.checks.cases import build

NAMES = ("dev", "prod-ams", "prod-fra", "prod-lon", "prod-zrh")
PROD = NAMES[1:]


@pytest.fixture(autouse=True)
def profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in NAMES:
        add(NewProfile(name, f"{name}:9092"))


class Clusters:
    """Healthy clusters that answer after a second; those in `lost` do not."""

    def __init__(self, *lost: str) -> None:
        self.lost = lost
        self.asked: dict[str | None, int | None] = {}
        self.reading = self.most = 0

    async def read(self, request: EvidenceRequest, callbacks: Callbacks) -> ClusterSnapshot:
        profile = request.connection.profile
        self.asked[profile] = request.connection.timeout_ms
        self.reading += 1
        self.most = max(self.most, self.reading)
        await asyncio.sleep(1)
        self.reading -= 1
        callbacks.remark("read")
        if profile in self.lost:
            raise ClusterUnreachable(f"Cannot connect to {profile}:9092.", "It is down.", "Start it.")
        return build({})


def test_each_matching_profile_has_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    async def read(
        names: list[str], request: FleetRequest, callbacks: Callbacks
    ) -> list[ClusterSnapshot | EosctlError]:
        return [
            ClusterUnreachable("No answer.", "It is down.", "Start it.") if "fra" in n else build({}) for n in names
        ]

    monkeypatch.setattr(fleet, "read_fleet", read)
    rows = diagnose_fleet(FleetRequest("prod-*"), environment={})
    assert [row.profile for row in rows] == list(PROD)
    assert [(row.grade, row.score, row.skipped) for row in rows] == [
        ("A", 100, 0),
        ("-", None, 0),
        *[("A", 100, 0)] * 2,
    ]
    assert (rows[1].failure, rows[1].next_step) == ("No answer. It is down.", "Start it.")
    assert rows[1].exit_code == common_exit_code(rows) == ExitCode.FAILED


def test_a_lost_cluster_does_not_stop_the_others() -> None:
    clusters = Clusters("prod-fra")
    found = run_virtual(read_fleet(PROD, FleetRequest("prod-*"), SILENT, clusters.read))
    assert [type(one) for one in found] == [ClusterSnapshot, ClusterUnreachable, ClusterSnapshot, ClusterSnapshot]
    assert set(clusters.asked) == set(PROD)


@pytest.mark.parametrize(("at_a_time", "lasted_s"), [(1, 4), (2, 2), (4, 1), (9, 1)])
def test_no_more_clusters_than_allowed_are_read_at_a_time(at_a_time: int, lasted_s: int) -> None:
    clusters = Clusters()

    async def timed() -> float:
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        await read_fleet(PROD, FleetRequest("prod-*", at_a_time=at_a_time), SILENT, clusters.read)
        return loop.time() - began_s

    assert run_virtual(timed()) == lasted_s
    assert clusters.most == min(at_a_time, 4)


def test_the_timeout_is_for_all_clusters_together() -> None:
    clusters = Clusters()
    request = FleetRequest("prod-*", Connection(timeout_ms=2_500), at_a_time=1)
    found = run_virtual(read_fleet(PROD, request, SILENT, clusters.read))
    assert clusters.asked == {"prod-ams": 2_500, "prod-fra": 1_500, "prod-lon": 500}
    assert isinstance(found[3], EosctlError)
    assert found[3].what.startswith("The time for all clusters was over")


def test_remarks_begin_with_the_profile() -> None:
    remarks: list[str] = []
    shown = SILENT._replace(remark=remarks.append)
    run_virtual(read_fleet(PROD[:1], FleetRequest("prod-a*"), shown, Clusters().read))
    assert remarks == ["prod-ams: read"]


@pytest.mark.parametrize(
    ("codes", "common"),
    [((0, 0), 0), ((0, 4), 4), ((4, 3, 0), 3), ((3, 1, 4), 1), ((1, 2), 2)],
)
def test_the_code_that_matters_most_is_the_common_one(codes: tuple[int, ...], common: int) -> None:
    assert common_exit_code(tuple(ClusterRow(profile=str(code), exit_code=code) for code in codes)) == common


@pytest.mark.parametrize("variable", ["EOSCTL_BOOTSTRAP_SERVERS", "EOSCTL_COMMAND_CONFIG"])
def test_an_address_for_all_profiles_is_refused(variable: str) -> None:
    with pytest.raises(UsageError, match=variable):
        matching_profiles("prod-*", {variable: "b:9092"})


def test_a_pattern_without_a_match_names_the_profiles() -> None:
    with pytest.raises(UsageError, match="No profile matches") as refused:
        matching_profiles("test-*", {})
    assert "prod-ams" in refused.value.why


@pytest.mark.parametrize(("name", "several"), [("prod", False), (None, False), ("prod-*", True), ("prod-[ab]", True)])
def test_only_wildcards_make_a_pattern(name: str | None, several: bool) -> None:
    assert is_pattern(name) is several


def test_runs_are_compared_for_each_cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    quota = {"entity": [["user", None]], "values": [["producer_byte_rate", 1024.0]]}
    idle = {"transactional_id": "t", "coordinator_id": 1, "state": "Empty", "producer_id": 7}
    looks = [{"started_at_ms": 1, "finished_at_ms": 2, "transactions": [idle]}]
    seen = [build({"looks": looks}), build({"looks": looks, "client_quotas": [quota]})]

    async def read(names: list[str], request: FleetRequest, callbacks: Callbacks) -> list[ClusterSnapshot]:
        return [seen[0]]

    monkeypatch.setattr(fleet, "read_fleet", read)
    request = FleetRequest("prod-a*", since_last=True)
    (first,) = diagnose_fleet(request, environment={})
    seen.pop(0)
    (second,) = diagnose_fleet(request, environment={})
    assert (first.last_at_ms, {one.is_new for one in first.findings} <= {None}) == (None, True)
    assert second.last_at_ms is not None
    assert [one.check_id for one in second.findings if one.is_new] == ["EOS-OPS-011"]
    page = render_fleet((second,), "prod-a*", 1_000)
    assert "EOS-OPS-011" in page
    assert "compared with" in page


def test_the_page_shows_unread_clusters_first_of_all() -> None:
    lost = ClusterRow(profile="<b>prod</b>", exit_code=1, failure="No <answer>.", next_step="Start it.")
    page = render_fleet((lost, ClusterRow(profile="well", exit_code=0, grade="A", score=100)), "prod-*", 1_000)
    assert "1 could not be read: nothing is known about it." in page
    assert "&lt;b&gt;prod&lt;/b&gt;" in page
    assert "No &lt;answer&gt;." in page
    assert "<script" not in page


def test_numbers_of_a_comparison_are_columns() -> None:
    row = ClusterRow(profile="p", exit_code=0, last_at_ms=5, gone=("x", "y"))
    names = [column.header for column in fleet_columns(since_last=True)]
    assert names[-3:] == ["NEW", "GONE", "FIRST"]
    assert [column.cell(row) for column in fleet_columns(since_last=True)][-3:-1] == ["0", "2"]
    assert "NEW" not in [column.header for column in fleet_columns(since_last=False)]


def test_each_number_of_the_page_has_its_name_on_narrow_screens() -> None:
    """There the row of names is hidden, and each cell stands on a line of its own."""
    page = render_fleet([ClusterRow(profile="prod-ams", exit_code=0, grade="B")], "prod-*", 0)
    assert re.findall(r'<td class="number" data-name="([^"]+)">', page) == [
        "critical", "error", "warning", "info", "not evaluated",
    ]  # fmt: skip
    assert page.count('<td class="number">') == 0


def test_many_findings_of_a_check_have_few_cards() -> None:
    one = FleetFinding("EOS-TXN-006", "Aborted by timeout", "info", "id", "It timed out.", "")
    found = (one,) * 3_000 + (replace(one, is_new=True),)
    row = ClusterRow(profile="prod ams", exit_code=3, findings=found, last_at_ms=1, gone=("id gone",) * 3_000)
    page = render_fleet([row], "prod-*", 0)
    assert page.count("<article") == 20
    assert page.count(">new</span>") == 1
    assert page.count("<li>id gone</li>") == 20
    assert "and 2,980 more" in page
    assert "2,981 more findings of the same checks are not shown." in page
    assert "<code>eosctl doctor --profile &#39;prod ams&#39;</code>" in page
