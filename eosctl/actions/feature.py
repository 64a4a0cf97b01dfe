"""Finalize a higher level of a feature (KIP-584) that every node supports."""

from __future__ import annotations

from functools import partial
from typing import Final

import msgspec

from eosctl.actions.protocol import Action, Cluster, Permit, Verification
from eosctl.client.client import Client
from eosctl.client.destinations import Role
from eosctl.client.outcome import error_for_code
from eosctl.errors import PlanRefused
from eosctl.model.evidence import EvidenceKind
from eosctl.model.plan import ChangeOutcome
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages import update_features

UPGRADE: Final = 1


class FeaturePlan(msgspec.Struct, frozen=True):
    """A plan to raise `feature` from `level_before` to `level`."""

    cluster_id: str
    feature: str
    level_before: int
    level: int


async def prepare_feature(cluster: Cluster, feature: str, level: int) -> FeaturePlan:
    """Collect evidence and plan to raise a feature; see `plan_feature`."""
    return plan_feature(await cluster.collect(frozenset({EvidenceKind.FEATURES})), feature, level)


def plan_feature(snapshot: ClusterSnapshot, feature: str, level: int) -> FeaturePlan:
    """Plan to raise a feature.

    Raises:
        PlanRefused: A broker does not respond or does not support the level, or the level is not higher.
    """
    found = snapshot.feature(feature)
    if found is None or not found.min_supported <= level <= found.max_supported:
        supported = "do not know the feature" if found is None else f"support up to {found.max_supported}"
        raise PlanRefused(
            f"{feature} cannot be raised to {level}: nothing was changed.",
            f"The brokers {supported}.",
            "Upgrade every broker and controller first.",
        )
    silent = [str(broker.node_id) for broker in snapshot.brokers if not broker.reachable or broker.fenced]
    if silent:
        raise PlanRefused(
            f"Not every broker answers, so {feature} is not raised: nothing was changed.",
            f"Silent or fenced: {', '.join(silent)}.",
            "Bring them back, upgraded, and run this again.",
        )
    if (found.finalized or 0) >= level:
        raise PlanRefused(
            f"{feature} is at {found.finalized} already: nothing was changed.",
            f"Level {level} asks for no more than what is finalized.",
            "Nothing is left to do.",
        )
    return FeaturePlan(snapshot.cluster_id, feature, found.finalized or 0, level)


async def _finalize(client: Client, plan: FeaturePlan, permit: Permit) -> Verification[ChangeOutcome]:
    permit.use(plan)
    update = update_features.FeatureUpdateKey(plan.feature, plan.level, False, UPGRADE)
    request = update_features.UpdateFeaturesRequest(client.config.request_timeout_ms, [update], False)
    answer = await client.request(Role.CONTROLLER, ApiKey.UPDATE_FEATURES, request, floor=1)
    codes = [answer.error_code, *(result.error_code for result in answer.results or ())]
    failed = next((code for code in codes if code), None)
    if failed is not None:
        what = f"UpdateFeatures {plan.feature}={plan.level} ({answer.error_message or ''})"
        raise error_for_code(failed, what, api_key=ApiKey.UPDATE_FEATURES)
    return partial(_report, plan)


async def _report(plan: FeaturePlan) -> ChangeOutcome:
    # The controller responds after it has written the level; the caller verifies that brokers have it.
    return ChangeOutcome(True, f"{plan.feature} is finalized at {plan.level}.")


FEATURE: Final = Action[FeaturePlan, ChangeOutcome](lambda plan: plan, _finalize)
"""`send` raises BrokerError if the controller rejects the level; its message names the node without support."""
