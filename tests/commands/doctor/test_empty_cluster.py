"""An empty cluster, which a wrong address may be: no verdict sounds as if there had been anything to judge."""

from __future__ import annotations

from eosctl.testing import SandboxThread
from tests.commands.conftest import eosctl
from tests.commands.open_transactions import leave_open, on


def test_an_empty_cluster_is_named_as_such() -> None:
    with SandboxThread(brokers=3) as cluster:
        at = ("-b", cluster.bootstrap)
        assert ", 3 brokers, no topics, as of " in eosctl("doctor", *at).out
        hanging = eosctl("txn", "hanging", *at).out
        assert hanging.splitlines() == ["Nothing hangs.", "Read: 0 partitions and 0 transactional ids."]
        on(cluster.bootstrap, lambda client: leave_open(client, "shop-0"))
        assert "no topics" not in eosctl("doctor", *at).out
        assert "and 1 transactional id." in eosctl("txn", "hanging", *at).out
