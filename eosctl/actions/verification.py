"""Switch partition verification on again (KIP-890), as the dynamic default of all brokers."""

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
from eosctl.model.snapshot import ClusterSnapshot
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
    """Brokers that append transactional data without asking the coordinator."""

    cluster_id: str
    broker_ids: tuple[int, ...]


def brokers_without_verification(snapshot: ClusterSnapshot) -> tuple[int, ...]:
    """Return the brokers whose verification is off, of those that reported the setting."""
    return tuple(
        broker.node_id
        for broker in snapshot.brokers
        if (setting := broker.setting(VERIFICATION_SETTING)) is not None and setting.value == "false"
    )


async def prepare_verification(cluster: Cluster) -> VerificationPlan:
    """Read the cluster and plan to switch verification on; see `plan_verification`."""
    return plan_verification(await cluster.collect(frozenset({EvidenceKind.BROKER_CONFIGS})))


def plan_verification(snapshot: ClusterSnapshot) -> VerificationPlan:
    """Plan to switch it on.

    Raises:
        PlanRefused: It is on everywhere, or no broker reported it.
    """
    found = brokers_without_verification(snapshot)
    if not found:
        raise PlanRefused(
            "No broker reports that partition verification is off: nothing was changed.",
            "It is on everywhere, or the brokers do not tell.",
            "See what they tell: eosctl check run EOS-BRK-002.",
        )
    return VerificationPlan(snapshot.cluster_id, found)


async def _set_default(client: Client, plan: VerificationPlan, permit: Permit) -> Verification[ChangeOutcome]:
    permit.use(plan)
    change = AlterableConfig(VERIFICATION_SETTING, _SET, "true")
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(_BROKER, "", [change])])
    answer = await client.request(Role.CONTROLLER, ApiKey.INCREMENTAL_ALTER_CONFIGS, request)
    code = any_error(answer)
    if code:
        raise error_for_code(code, f"Setting {VERIFICATION_SETTING}=true")
    return _report


async def _report() -> ChangeOutcome:
    # A value set for a single broker goes before the default; whether one is left is the caller's to verify.
    return ChangeOutcome(True, f"{VERIFICATION_SETTING}=true is the default of all brokers now.")


VERIFICATION: Final = Action[VerificationPlan, ChangeOutcome](lambda plan: plan, _set_default)
"""Sending raises BrokerError where the controller refuses, and AuthorizationDenied where the principal may not
ALTER_CONFIGS."""
