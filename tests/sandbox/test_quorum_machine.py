"""Random failures of three controllers: one leader in an epoch, and nothing committed is ever lost or changed."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from eosctl.sandbox.controller.controller import Controller
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import Emulation
from eosctl.wire.messages.internal.metadata.config_record import ConfigRecord
from tests.sandbox.harness import Harness
from tests.sandbox.test_exactly_once_machine import examples

CONTROLLERS = (100, 101, 102)
NODES = (*CONTROLLERS, 1)
MAX_KILLS = 6
CLUSTER_RESOURCE, BROKER = 4, ""
NAME = "log.cleaner.backoff.ms"


class ControllerQuorum(RuleBasedStateMachine):
    release = "4.3"

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        shape = ClusterShape(1, Emulation(self.release), fast=True, controller_count=3)
        self.harness = Harness(self.folder, shape)
        self.leaders: dict[int, int] = {}
        self.committed: list[tuple[int, int, list[object]]] = []
        self.acknowledged: set[int] = set()
        self.count = self.kill_count = 0

    def teardown(self) -> None:
        self.harness.close()
        shutil.rmtree(self.folder)

    @initialize()
    def begin(self) -> None:
        self.harness.advance(10)

    @property
    def controllers(self) -> list[Controller]:
        nodes = (self.harness.core.nodes.get(node_id) for node_id in CONTROLLERS)
        return [node.controller for node in nodes if node is not None and node.controller is not None]

    # --- changes ----------------------------------------------------------------------------------------------------

    @rule(chosen=st.integers(0, 2))
    def write(self, chosen: int) -> None:
        """Change something at a controller that takes itself for the active one; there may be two of them."""
        active = [controller for controller in self.controllers if controller.is_active]
        if not active:
            return
        self.count += 1
        number = self.count
        record = ConfigRecord(CLUSTER_RESOURCE, BROKER, NAME, str(number))
        active[chosen % len(active)].write([record], lambda: self.acknowledged.add(number))

    @rule(first=st.sampled_from(NODES), second=st.sampled_from(NODES))
    def cut_link(self, first: int, second: int) -> None:
        if first != second:
            self.harness.core.network.cut(first, second)

    @rule()
    def isolate_leader(self) -> None:
        for controller in self.controllers:
            if controller.is_active:
                self.harness.core.network.cut(controller.node_id)

    @rule()
    def heal(self) -> None:
        self.harness.core.network.heal()

    @precondition(lambda self: self.kill_count < MAX_KILLS)
    @rule(node_id=st.sampled_from(CONTROLLERS), clean=st.booleans())
    def stop(self, node_id: int, clean: bool) -> None:
        if node_id in self.harness.core.nodes:
            self.kill_count += 1
            self.harness.core.stop_node(node_id, clean=clean)

    @rule(node_id=st.sampled_from(CONTROLLERS))
    def start(self, node_id: int) -> None:
        if node_id not in self.harness.core.nodes:
            self.harness.core.start_node(node_id)

    @rule(ms=st.sampled_from([1, 60, 400, 1500]))
    def pass_time(self, ms: int) -> None:
        self.harness.advance(ms)

    @rule()
    def a_healed_quorum_decides(self) -> None:
        self.harness.core.network.heal()
        for node_id in CONTROLLERS:
            self.start(node_id)

        def is_settled() -> bool:
            active = [controller for controller in self.controllers if controller.is_active]
            ends = {(one.log.end_offset, one.log.high_watermark, one.quorum.epoch) for one in self.controllers}
            return len(active) == 1 and len(ends) == 1

        self.harness.run_until(is_settled)
        assert len({self.bytes_of(controller, controller.log.end_offset) for controller in self.controllers}) == 1
        values = {
            int(record.value)
            for batch in self.controllers[0].log.batches()
            for record in batch.records
            if isinstance(record, ConfigRecord) and record.name == NAME and record.value is not None
        }
        assert self.acknowledged <= values

    # --- what must hold ---------------------------------------------------------------------------------------------

    @invariant()
    def an_epoch_has_one_leader(self) -> None:
        for controller in self.controllers:
            if controller.quorum.is_leader:
                assert self.leaders.setdefault(controller.quorum.epoch, controller.node_id) == controller.node_id

    @invariant()
    def what_is_committed_stays(self) -> None:
        longest = b""
        for controller in self.controllers:
            committed = self.bytes_of(controller, controller.log.high_watermark)
            shorter = min(len(committed), len(longest))
            assert committed[:shorter] == longest[:shorter]
            longest = max(committed, longest, key=len)
        shorter = min(len(longest), len(self.seen))
        assert longest[:shorter] == self.seen[:shorter]
        self.seen = max(longest, self.seen, key=len)

    seen = b""

    def bytes_of(self, controller: Controller, end_offset: int) -> bytes:
        batches = controller.log.log.batches()
        return b"".join(data for header, data in batches if header.next_offset <= end_offset)


class ControllerQuorumOn39(ControllerQuorum):
    """Without the question before an election, and so with more of them."""

    release = "3.9"


def test_controllers_agree_despite_failures() -> None:
    run_state_machine_as_test(ControllerQuorum, settings=examples(24))
    run_state_machine_as_test(ControllerQuorumOn39, settings=examples(12))
