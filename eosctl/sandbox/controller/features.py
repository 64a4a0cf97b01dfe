"""Finalized features: bootstrap of a new cluster, and UpdateFeatures (KIP-584, KIP-1022)."""

from __future__ import annotations

from typing import Any, NamedTuple

from eosctl.sandbox.controller.controller import Controller
from eosctl.sandbox.metadata.image import BROKER_RESOURCE
from eosctl.sandbox.ports import Emulation, RequestContext
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.internal.metadata.config_record import ConfigRecord
from eosctl.wire.messages.internal.metadata.feature_level_record import FeatureLevelRecord
from eosctl.wire.messages.update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

TRANSACTION_VERSION = "transaction.version"
METADATA_VERSION = "metadata.version"
UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3


class FeatureRange(NamedTuple):
    """The supported levels of a release, and the level of a new cluster (0: not finalized)."""

    minimum: int
    maximum: int
    default: int


#: The features that brokers announce in ApiVersions and `kafka-storage format` finalizes.
FEATURES: dict[str, dict[str, FeatureRange]] = {
    "3.9": {
        "kraft.version": FeatureRange(0, 1, 0),
        "metadata.version": FeatureRange(1, 21, 21),
    },
    "4.3": {
        "eligible.leader.replicas.version": FeatureRange(0, 1, 1),
        "group.version": FeatureRange(0, 1, 1),
        "kraft.version": FeatureRange(0, 1, 0),
        "metadata.version": FeatureRange(7, 30, 30),
        "share.version": FeatureRange(0, 1, 1),
        "streams.version": FeatureRange(0, 1, 1),
        "transaction.version": FeatureRange(0, 2, 2),
    },
    "4.4": {
        "eligible.leader.replicas.version": FeatureRange(0, 1, 1),
        "group.version": FeatureRange(0, 1, 1),
        "kraft.version": FeatureRange(0, 1, 0),
        "metadata.version": FeatureRange(7, 33, 33),
        "share.version": FeatureRange(0, 2, 2),
        "streams.version": FeatureRange(0, 1, 1),
        "transaction.version": FeatureRange(0, 2, 2),
    },
}


#: The levels of metadata.version from which a cluster does not go back (`MetadataVersion.didMetadataChange`).
METADATA_CHANGES = frozenset({7, 8, 11, 13, 14, 15, 17, 23, 30, 32, 33})


def bootstrap_records(emulation: Emulation, transaction_version: int | None, min_insync_replicas: int) -> list[Any]:
    """Build the first records of a formatted cluster."""
    records: list[Any] = []
    for name, levels in FEATURES[emulation.release].items():
        level = levels.default
        if name == TRANSACTION_VERSION and transaction_version is not None:
            level = transaction_version
        if level > 0:
            records.append(FeatureLevelRecord(name, level))
    if "eligible.leader.replicas.version" in FEATURES[emulation.release]:
        # Eligible leader replicas require a single min.insync.replicas for the cluster (KIP-966).
        records.append(ConfigRecord(BROKER_RESOURCE, "", "min.insync.replicas", str(min_insync_replicas)))
    records.sort(key=lambda record: getattr(record, "name", "") != "metadata.version")
    return records


def update_features(controller: Controller, context: RequestContext, request: UpdateFeaturesRequest) -> None:
    """Raise or lower finalized levels; either all or none."""
    records: list[Any] = []
    results = []
    failed: tuple[ErrorCode, str] | None = None
    no_error_text = None if controller.emulation.is_3_9 else ErrorCode.NONE.name
    for update in request.feature_updates:
        error, message = _check(controller, update)
        results.append(UpdatableFeatureResult(update.feature, error, message or no_error_text))
        if error:
            failed = failed or (error, message)
        elif controller.image.finalized_feature(update.feature) != update.max_version_level:
            records.append(FeatureLevelRecord(update.feature, update.max_version_level))
    if failed is not None and not controller.emulation.is_3_9:  # One result for the whole request (KIP-1022).
        text = f"The update failed for all features since the following feature had an error: {failed[1]}"
        context.reply(UpdateFeaturesResponse(0, failed[0], text, []))
        return
    no_text = "" if controller.emulation.is_3_9 else None
    if context.api_version >= 2:
        response = UpdateFeaturesResponse(0, 0, no_text, [])
    else:
        response = UpdateFeaturesResponse(0, 0, no_text, results)
    write = [] if request.validate_only or failed is not None else records
    controller.write(write, lambda: context.reply(response))


def _check(controller: Controller, update: FeatureUpdateKey) -> tuple[ErrorCode, str]:
    levels = FEATURES[controller.emulation.release].get(update.feature)
    level = update.max_version_level
    prefix = f"Invalid update version {level} for feature {update.feature}."
    if level < 0:
        return ErrorCode.INVALID_UPDATE_VERSION, f"{prefix} A feature version cannot be less than 0."
    if update.upgrade_type not in (UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE):
        return (
            ErrorCode.INVALID_UPDATE_VERSION,
            f"{prefix} The controller does not support the given upgrade type.",
        )
    if levels is None:
        return _check_unknown(controller, update, prefix)
    may_be_off = level == 0 and update.feature != METADATA_VERSION
    if not levels.minimum <= level <= levels.maximum and not may_be_off:
        return (
            ErrorCode.INVALID_UPDATE_VERSION,
            f"{prefix} Local controller {controller.node_id} only supports versions {levels.minimum}-{levels.maximum}",
        )
    for broker_id, broker in sorted(controller.image.brokers.items()):
        lowest, highest = broker.features.get(update.feature, (0, 0))
        if not lowest <= level <= highest and level != 0:
            why = f"only supports versions {lowest}-{highest}" if highest else "does not support this feature."
            return ErrorCode.INVALID_UPDATE_VERSION, f"{prefix} Broker {broker_id} {why}"
    present = controller.image.finalized_feature(update.feature)
    downgrade = update.allow_downgrade or update.upgrade_type in (SAFE_DOWNGRADE, UNSAFE_DOWNGRADE)
    if level < present and not downgrade:
        return (
            ErrorCode.INVALID_UPDATE_VERSION,
            (
                f"{prefix} Can't downgrade the version of this feature without setting the upgrade type to either "
                "safe or unsafe downgrade."
            ),
        )
    if update.feature == METADATA_VERSION and any(level < changing <= present for changing in METADATA_CHANGES):
        return ErrorCode.INVALID_UPDATE_VERSION, _metadata_downgrade(controller.emulation, update, present)
    return ErrorCode.NONE, ""


def _metadata_downgrade(emulation: Emulation, update: FeatureUpdateKey, present: int) -> str:
    """Return why the metadata log cannot be downgraded: a later level added records."""
    level = update.max_version_level
    text = f"Unsupported metadata.version downgrade from {present} to {level}."
    if emulation.is_3_9:
        text = f"Invalid metadata.version {level}."
    if update.upgrade_type == UNSAFE_DOWNGRADE:
        return f"{text} Unsafe metadata downgrade is not supported in this version."
    return f"{text} Refusing to perform the requested downgrade because it might delete metadata information."


def _check_unknown(controller: Controller, update: FeatureUpdateKey, prefix: str) -> tuple[ErrorCode, str]:
    """Reject an unknown feature; 3.9 allows disabling it."""
    if update.max_version_level:
        why = f"Local controller {controller.node_id} does not support this feature."
    elif controller.emulation.is_3_9:
        return ErrorCode.NONE, ""
    else:
        why = f"Feature {update.feature} not found."
    return ErrorCode.INVALID_UPDATE_VERSION, f"{prefix} {why}"
