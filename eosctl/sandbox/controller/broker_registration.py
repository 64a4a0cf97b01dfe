"""Broker registration, heartbeats, fencing, and controlled shutdown (`ClusterControlManager`, KIP-631)."""

from __future__ import annotations

from typing import Any

from eosctl.sandbox.controller.controller import Controller
from eosctl.sandbox.controller.directories import fail_directories
from eosctl.sandbox.controller.elections import add_broker, partitions_with, remove_broker, remove_replicas
from eosctl.sandbox.metadata.image import BrokerState
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from eosctl.wire.messages.broker_registration import BrokerRegistrationRequest, BrokerRegistrationResponse
from eosctl.wire.messages.internal.metadata.broker_registration_change_record import BrokerRegistrationChangeRecord
from eosctl.wire.messages.internal.metadata.register_broker_record import (
    BrokerEndpoint,
    BrokerFeature,
    RegisterBrokerRecord,
)
from eosctl.wire.messages.internal.metadata.unregister_broker_record import UnregisterBrokerRecord
from eosctl.wire.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse
from eosctl.wire.messages.unregister_controller import UnregisterControllerRequest, UnregisterControllerResponse

FENCE = 1
UNFENCE = -1


def register_broker(controller: Controller, context: RequestContext, request: BrokerRegistrationRequest) -> None:
    """Register a broker, initially fenced. Its epoch is the next offset of the controller's log.

    A broker without the epoch of its previous run did not shut down cleanly and may have lost records. It leaves all
    ISRs and is not eligible to lead (KIP-966).
    """
    known = controller.image.brokers.get(request.broker_id)
    if request.cluster_id != controller.cluster_id:
        context.reply(BrokerRegistrationResponse(error_code=ErrorCode.INCONSISTENT_CLUSTER_ID))
        return
    if known is not None and not known.fenced and known.incarnation_id != request.incarnation_id:
        session_ms = controller.config.get_int("broker.session.timeout.ms")
        if request.broker_id not in controller.heartbeats.stale(controller.runtime.runnable_ms(), session_ms):
            context.reply(BrokerRegistrationResponse(error_code=ErrorCode.DUPLICATE_BROKER_REGISTRATION))
            return
    is_new = known is None or known.incarnation_id != request.incarnation_id
    supported = {feature.name: feature for feature in request.features}
    for name, level in controller.image.features.items():
        own = supported.get(name)
        if level and (own is None or not own.min_supported_version <= level <= own.max_supported_version):
            context.reply(BrokerRegistrationResponse(error_code=ErrorCode.UNSUPPORTED_VERSION))
            return
    records: list[Any] = []
    epoch = controller.log.end_offset
    if known is not None and not is_new:
        epoch = known.broker_epoch  # A retry: the response was lost.
    elif controller.has_elr and (known is None or known.broker_epoch != request.previous_broker_epoch):
        records += _after_unclean_shutdown(controller, request.broker_id)
    elif known is not None and not known.fenced:
        records += _hand_over(controller, request.broker_id)
    records.append(
        RegisterBrokerRecord(
            broker_id=request.broker_id,
            is_migrating_zk_broker=False,
            incarnation_id=request.incarnation_id,
            broker_epoch=epoch,
            end_points=[
                BrokerEndpoint(end.name, end.host, end.port, end.security_protocol) for end in request.listeners
            ],
            features=[
                BrokerFeature(feature.name, feature.min_supported_version, feature.max_supported_version)
                for feature in request.features
            ],
            rack=request.rack,
            fenced=is_new or known is None or known.fenced,
            in_controlled_shutdown=not is_new and known is not None and known.in_controlled_shutdown,
            log_dirs=request.log_dirs,
        )
    )
    controller.heartbeats.forget(request.broker_id)
    controller.write(records, lambda: context.reply(BrokerRegistrationResponse(broker_epoch=epoch)))


def broker_heartbeat(controller: Controller, context: RequestContext, request: BrokerHeartbeatRequest) -> None:
    """Handle a heartbeat: unfence a broker that has caught up; fence or shut down a broker on request."""
    broker = controller.image.brokers.get(request.broker_id)
    if broker is None or broker.broker_epoch != request.broker_epoch:
        context.reply(BrokerHeartbeatResponse(error_code=ErrorCode.STALE_BROKER_EPOCH))
        return
    caught_up = request.current_metadata_offset >= broker.broker_epoch
    records: list[Any] = []
    if request.want_shut_down:
        records += _controlled_shutdown(controller, broker)
    elif request.want_fence and not broker.fenced:
        records += fence_records(controller, broker)
    elif broker.fenced and caught_up and not request.want_fence:
        controller.events.unfences(broker.broker_id, broker.broker_epoch)
        records += _unfence(controller, broker)
    records = [*fail_directories(controller, broker, request.offline_log_dirs), *records]
    controller.heartbeats.touch(request.broker_id, controller.runtime.runnable_ms())

    def answer() -> None:
        now = controller.image.brokers.get(request.broker_id)
        may_stop = request.want_shut_down and not _leads_anything(controller, request.broker_id)
        if may_stop:
            controller.events.allows_shutdown(request.broker_id, request.current_metadata_offset)
        context.reply(
            BrokerHeartbeatResponse(
                is_caught_up=caught_up,
                is_fenced=now is None or now.fenced,
                should_shut_down=may_stop,
            )
        )

    controller.write(records, answer)


def fence_stale_brokers(controller: Controller) -> None:
    """Fence every broker whose heartbeats stopped for `broker.session.timeout.ms`."""
    session_ms = controller.config.get_int("broker.session.timeout.ms")
    for broker_id in controller.heartbeats.stale(controller.runtime.runnable_ms(), session_ms):
        controller.heartbeats.forget(broker_id)
        broker = controller.image.brokers.get(broker_id)
        if broker is not None and not broker.fenced:
            records = fence_records(controller, broker)
            controller.events.fences(broker_id, broker.broker_epoch, len(records) - 1)
            controller.write(records)


def fence_records(controller: Controller, broker: BrokerState) -> list[Any]:
    """Fence a broker: remove it from every ISR and elect other leaders."""
    return [
        *_hand_over(controller, broker.broker_id),
        BrokerRegistrationChangeRecord(broker.broker_id, broker.broker_epoch, FENCE),
    ]


def _hand_over(controller: Controller, broker_id: int) -> list[Any]:
    return list(
        remove_broker(
            controller.image,
            broker_id,
            controller.is_broker_active,
            controller.unclean_allowed,
            controller.min_isr,
            eligible_replicas=controller.has_elr,
        )
    )


def _after_unclean_shutdown(controller: Controller, broker_id: int) -> list[Any]:
    return list(
        remove_replicas(
            controller.image,
            broker_id,
            partitions_with(controller.image, broker_id),
            controller.is_broker_active,
            controller.unclean_allowed,
            controller.min_isr,
            eligible_replicas=True,
            unclean=True,
        )
    )


def _unfence(controller: Controller, broker: BrokerState) -> list[Any]:
    return [
        BrokerRegistrationChangeRecord(broker.broker_id, broker.broker_epoch, UNFENCE),
        *add_broker(controller.image, broker.broker_id, controller.is_broker_active, controller.unclean_allowed),
    ]


def _controlled_shutdown(controller: Controller, broker: BrokerState) -> list[Any]:
    if broker.in_controlled_shutdown or broker.fenced:
        return []
    controller.events.allows_controlled_shutdown(broker.broker_id)
    return [
        BrokerRegistrationChangeRecord(broker.broker_id, broker.broker_epoch, 0, 1),
        *_hand_over(controller, broker.broker_id),
    ]


def _leads_anything(controller: Controller, broker_id: int) -> bool:
    return any(
        state.leader == broker_id and len(state.replicas) > 1 and any(b != broker_id for b in state.isr)
        for topic in controller.image.topics.values()
        for state in topic.partitions.values()
    )


def unregister_broker(controller: Controller, context: RequestContext, request: UnregisterBrokerRequest) -> None:
    """Remove a broker from every ISR and delete its registration; a running broker registers again."""
    broker = controller.image.brokers.get(request.broker_id)
    if broker is None:
        text = "" if controller.emulation.is_3_9 else f"Broker ID {request.broker_id} is not currently registered"
        context.reply(UnregisterBrokerResponse(0, ErrorCode.BROKER_ID_NOT_REGISTERED, text))
        return
    # Without the fencing record, since the whole registration is deleted.
    left = fence_records(controller, broker)[:-1]
    controller.heartbeats.forget(broker.broker_id)
    records = [*left, UnregisterBrokerRecord(broker.broker_id, broker.broker_epoch)]
    controller.write(records, lambda: context.reply(UnregisterBrokerResponse(0, ErrorCode.NONE, None)))


def unregister_controller(
    controller: Controller, context: RequestContext, request: UnregisterControllerRequest
) -> None:
    """Refuse what Kafka refuses; a voter of the sandbox runs, or registers again as soon as it does."""
    if request.controller_id == controller.node_id:
        error, text = ErrorCode.INVALID_REQUEST, "Controller cannot unregister itself while it is active."
    elif request.controller_id not in controller.voters:
        error = ErrorCode.CONTROLLER_ID_NOT_REGISTERED
        text = f"Controller ID {request.controller_id} is not currently registered."
    else:
        context.reply(UnregisterControllerResponse(0, ErrorCode.NONE, None))
        return
    context.reply(UnregisterControllerResponse(0, error, text))
