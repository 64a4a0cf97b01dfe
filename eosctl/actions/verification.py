"""Enable partition verification (KIP-890) as the dynamic default of all brokers."""

from __future__ import annotations

from typing import Final

import msgspec

from eosctl.actions.protocol import Action, Cluster, Permit, Verification
from eosctl.client.client import Client
from eosctl.client.destinations import Role
from eosctl.client.outcome import any_error, error_for_code
from eosctl.errors import PlanRefused
from eosctl.model.evidence import EvidenceKind
from eosctl.model.plan import ChangeOutcome
from eosctl.model.setting import SettingSource
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.text import name_some
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)

VERIFICATION_SETTING: Final = "transaction.partition.verification.enable"
_BROKER: Final = 4
_SET: Final = 0


class VerificationPlan(msgspec.Struct, frozen=True):
    """A plan for brokers that append transactional data without verification."""

    cluster_id: str
    broker_ids: tuple[int, ...]


def brokers_without_verification(snapshot: ClusterSnapshot) -> tuple[int, ...]:
    """Return the brokers with disabled verification, among those that reported the setting."""
    return tuple(
        broker.node_id
        for broker in snapshot.brokers
        if (setting := broker.setting(VERIFICATION_SETTING)) is not None and setting.value == "false"
    )


async def prepare_verification(cluster: Cluster) -> VerificationPlan:
    """Collect evidence and plan to enable verification; see `plan_verification`."""
    return plan_verification(await cluster.collect(frozenset({EvidenceKind.BROKER_CONFIGS})))


def plan_verification(snapshot: ClusterSnapshot) -> VerificationPlan:
    """Plan to enable verification.

    Raises:
        PlanRefused: It is enabled everywhere, no broker reported the setting, or a broker has a value of its own, which
            stands before the default of all brokers.
    """
    found = brokers_without_verification(snapshot)
    if not found:
        raise PlanRefused(
            "No broker reports that partition verification is off: nothing was changed.",
            "It is on everywhere, or the brokers do not report it.",
            next(
                (gap.next_step for gap in snapshot.gaps if gap.kind is EvidenceKind.BROKER_CONFIGS),
                "See what they report: eosctl check run EOS-BRK-002.",
            ),
        )
    own = [node_id for node_id in found if _source(snapshot, node_id) is SettingSource.DYNAMIC_BROKER]
    if own:
        raise PlanRefused(
            f"Partition verification is off by a value of its own on {name_some('broker', list(map(str, own)))}: "
            "nothing was changed.",
            "The default of all brokers, which this action sets, does not change such a value.",
            f"Remove it first: kafka-configs.sh --alter --entity-type brokers --entity-name {own[0]} --delete-config "
            f"{VERIFICATION_SETTING}",
        )
    return VerificationPlan(snapshot.cluster_id, found)


def _source(snapshot: ClusterSnapshot, node_id: int) -> SettingSource | None:
    broker = snapshot.broker(node_id)
    setting = None if broker is None else broker.setting(VERIFICATION_SETTING)
    return None if setting is None else setting.source


async def _set_default(client: Client, plan: VerificationPlan, permit: Permit) -> Verification[ChangeOutcome]:
    permit.use(plan)
    change = AlterableConfig(VERIFICATION_SETTING, _SET, "true")
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(_BROKER, "", [change])])
    answer = await client.request(Role.CONTROLLER, ApiKey.INCREMENTAL_ALTER_CONFIGS, request)
    code = any_error(answer)
    if code:
        raise error_for_code(code, f"Setting {VERIFICATION_SETTING}=true", api_key=ApiKey.INCREMENTAL_ALTER_CONFIGS)
    return _report


async def _report() -> ChangeOutcome:
    return ChangeOutcome(True, f"{VERIFICATION_SETTING}=true is the default of all brokers now.")


VERIFICATION: Final = Action[VerificationPlan, ChangeOutcome](lambda plan: plan, _set_default)
"""`send` raises BrokerError if the controller rejects the request, and AuthorizationDenied without ALTER_CONFIGS."""
