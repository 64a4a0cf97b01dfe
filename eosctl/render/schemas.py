"""The shapes of all machine-readable results, as JSON Schema generated from the types that are rendered."""

from __future__ import annotations

import inspect
from typing import Any, Final

import msgspec

from eosctl.findings.fleet import ClusterRow
from eosctl.findings.manual import CheckItem
from eosctl.model.capacity_report import CapacityReport
from eosctl.model.capacity_simulation import SimulationReport
from eosctl.model.checklist import Checklist, ChecklistRecord
from eosctl.model.deployment import Difference
from eosctl.model.fault_simulation import FaultSimulation
from eosctl.model.log_category import LogCategory
from eosctl.model.reference import Entry, Explanation
from eosctl.model.rehearsal import RehearsalItem
from eosctl.model.rules_file import RulesFile
from eosctl.model.runbook import Runbook
from eosctl.model.sandbox import SandboxItem
from eosctl.model.scenario import ScenarioItem, VerdictItem
from eosctl.model.verification import AppItem, VerifyItem
from eosctl.render.bundle import BundleItem, ChangeItem
from eosctl.render.capacity.calibration import CalibrationItem
from eosctl.render.capacity.comparison import ComparisonItem
from eosctl.render.configuration.bugs import BugItem
from eosctl.render.configuration.change import RepairItem, UpgradeItem
from eosctl.render.configuration.lint_view import LintView
from eosctl.render.diagnosis.access import AccessItem
from eosctl.render.diagnosis.checklist import ChecklistSummary, RunView
from eosctl.render.diagnosis.report import DiagnosisView
from eosctl.render.envelope import Listing, schema_version_of
from eosctl.render.failure import FailureView
from eosctl.render.findings.views import JudgedListing
from eosctl.render.fsck import FsckView
from eosctl.render.logs.exceptions import ExceptionItem
from eosctl.render.logs.kafka_data import KafkaDataView
from eosctl.render.logs.query import QueryItem
from eosctl.render.logs.report import LogsView
from eosctl.render.metrics.catalog import MetricItem
from eosctl.render.metrics.readings import ReadingItem
from eosctl.render.profiles import ProfileItem
from eosctl.render.runbooks.lint import FlawItem
from eosctl.render.runbooks.matches import MatchItem
from eosctl.render.runbooks.recovery import CarriedItem
from eosctl.render.runbooks.runbook import BookItem, JournalItem, RunItem
from eosctl.render.sandbox.faults import FaultKindItem, FaultsItem
from eosctl.render.tool import SchemaItem, VersionItem
from eosctl.render.transactions.blame import BlameView
from eosctl.render.transactions.fence import FenceView
from eosctl.render.transactions.groups import DescribedItem, GroupItem
from eosctl.render.transactions.lag import LagListing, PinItem
from eosctl.render.transactions.life import LifeItem
from eosctl.render.transactions.listing import HangItem, TransactionItem
from eosctl.render.transactions.locate import LocatedItem
from eosctl.render.transactions.plan import MarkerView
from eosctl.render.transactions.producers import ProducerRow
from eosctl.render.transactions.timeline import TimelineView

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

SHAPES: Final[dict[str, tuple[Any, str]]] = {
    "access-rules": (Listing[AccessItem], "check acl"),
    "abort": (MarkerView, "txn abort"),
    "blame": (BlameView, "txn blame, fencing explain"),
    "application-verification": (JudgedListing[AppItem], "verify app, verify dlq"),
    "bugs": (Listing[BugItem], "bugs"),
    "bundle": (Listing[BundleItem], "snapshot capture, snapshot show"),
    "snapshot-diff": (Listing[ChangeItem], "snapshot diff"),
    "calibration": (Listing[CalibrationItem], "capacity calibrate"),
    "capacity-comparison": (Listing[ComparisonItem], "capacity compare"),
    "capacity-plan": (Listing[CapacityReport], "capacity plan"),
    "capacity-simulation": (Listing[SimulationReport], "capacity simulate"),
    "complete": (MarkerView, "txn complete"),
    "fence": (FenceView, "txn fence"),
    "producers": (Listing[ProducerRow], "txn producers"),
    "checks": (Listing[CheckItem], "check list"),
    "checklist": (Checklist, "a file for checklist run"),
    "checklist-record": (ChecklistRecord, "checklist run --record"),
    "checklist-run": (RunView, "checklist run, checklist sign"),
    "checklists": (Listing[ChecklistSummary], "checklist list"),
    "config-diff": (Listing[Difference], "config diff"),
    "config-fix": (Listing[RepairItem], "config fix"),
    "config-upgrade": (Listing[UpgradeItem], "config upgrade"),
    "config-lint": (LintView, "config lint"),
    "diagnosis": (DiagnosisView, "doctor, check run"),
    "error": (FailureView, "any command that fails"),
    "log-categories": (Listing[LogCategory], "logs patterns"),
    "log-exceptions": (Listing[ExceptionItem], "logs exceptions"),
    "log-query": (Listing[QueryItem], "logs sql"),
    "metric-readings": (Listing[ReadingItem], "metrics show"),
    "metrics": (Listing[MetricItem], "metrics list"),
    "logs": (LogsView, "logs scan, logs report"),
    "diagnose": (Listing[MatchItem], "diagnose"),
    "dr-lint": (Listing[CarriedItem], "dr lint"),
    "entries": (Listing[Entry], "explain without a question"),
    "explanations": (Listing[Explanation], "explain, check explain, logs explain, metrics explain"),
    "fleet": (Listing[ClusterRow], "doctor with a --profile that names several"),
    "fsck": (FsckView, "fsck"),
    "group-descriptions": (Listing[DescribedItem], "group describe"),
    "groups": (Listing[GroupItem], "group list"),
    "group-lag": (LagListing, "group lag"),
    "kafka-data": (KafkaDataView, "logs data"),
    "group-pending": (Listing[PinItem], "group pending"),
    "locations": (Listing[LocatedItem], "txn locate, group offsets locate"),
    "open-transactions": (Listing[HangItem], "txn hanging"),
    "rules": (RulesFile, "the format of .eosctl.yaml"),
    "runbook": (Runbook, "runbook show; the format of runbook files"),
    "runbook-journal": (Listing[JournalItem], "runbook journal"),
    "runbook-lint": (JudgedListing[FlawItem], "runbook lint"),
    "runbook-test": (Listing[RehearsalItem], "runbook test"),
    "runbook-run": (Listing[RunItem], "runbook run"),
    "runbooks": (Listing[BookItem], "runbook list"),
    "profiles": (Listing[ProfileItem], "profile list, profile show"),
    "sandboxes": (Listing[SandboxItem], "sandbox up, sandbox status"),
    "fault-kinds": (Listing[FaultKindItem], "sandbox fault --kinds"),
    "sandbox-faults": (Listing[FaultsItem], "sandbox fault"),
    "scenario-verdict": (Listing[VerdictItem], "sandbox scenario run NAME"),
    "scenarios": (Listing[ScenarioItem], "sandbox scenario list, sandbox scenario show NAME"),
    "simulations": (Listing[FaultSimulation], "sandbox simulate"),
    "schemas": (Listing[SchemaItem], "schema"),
    "timeline": (TimelineView, "timeline"),
    "transaction-lives": (Listing[LifeItem], "txn describe"),
    "transactions": (Listing[TransactionItem], "txn list"),
    "verification": (JudgedListing[VerifyItem], "verify run, verify replay, verify show"),
    "versions": (Listing[VersionItem], "version"),
}
"""Shape and commands by name; the name is that of the result's ``schema`` without ``eosctl.``."""


def schema_of(name: str) -> dict[str, Any]:
    """Return the JSON Schema of one result.

    Raises:
        KeyError: No schema has this name.
    """
    shape, _ = SHAPES[name]
    return titled(name, msgspec.json.schema(shape))


def titled(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Put dialect, identity, and title in front of a schema, and take the source's indentation out of descriptions.

    The identity is a name, not an address: the same schema in a file, in a catalog, and in `eosctl schema`.

    Python 3.13 has taken it out already, earlier ones have not; the page is the same on all.
    """
    identity = f"urn:eosctl:schema:{name}:{schema_version_of(name)}"
    return {"$schema": DIALECT, "$id": identity, "title": f"eosctl.{name}", **_dedented(schema)}


def _dedented(node: Any) -> Any:
    if isinstance(node, dict):
        return {
            key: inspect.cleandoc(value) if key == "description" and isinstance(value, str) else _dedented(value)
            for key, value in node.items()
        }
    return [_dedented(item) for item in node] if isinstance(node, list) else node
