"""The state of a batch from its own header."""

from __future__ import annotations

from eosctl.storage.scan import LogBatch
from eosctl.wire.errors import WireError
from eosctl.wire.records.control import ControlType, EndTxnMarker, OtherControl, decode_control
from eosctl.wire.records.header import CONTROL, TRANSACTIONAL


def control_name(control: EndTxnMarker | OtherControl) -> str:
    """Return Kafka's name of a control record: COMMIT, ABORT, LEADER_CHANGE ..."""
    if isinstance(control, EndTxnMarker):
        return "COMMIT" if control.committed else "ABORT"
    known = {member.value: member.name for member in ControlType}
    return known.get(control.type, f"CONTROL-{control.type}")


def state_of(batch: LogBatch) -> str:
    """Return the batch's state from its own header: a marker, transactional, idempotent, or plain."""
    attributes = batch.header.attributes
    if attributes & CONTROL:
        try:
            return "+".join(control_name(decode_control(record)) for record in batch.records()) or "control"
        except WireError:
            return "control?"
    if attributes & TRANSACTIONAL:
        return "transactional"
    return "idempotent" if batch.header.producer_id >= 0 else "plain"
