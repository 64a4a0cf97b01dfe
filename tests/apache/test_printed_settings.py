"""The commands that a finding prints for a setting change what the finding is about."""

from __future__ import annotations

import shlex

import pytest

from eosctl.checks.broker.partition_verification_disabled import SETTING, partition_verification_disabled
from eosctl.lab.apache.nodes import ApacheNodes
from tests.apache.conftest import KafkaTool, set_on_every_broker
from tests.commands.conftest import eosctl

pytestmark = pytest.mark.usefixtures("own_home")

TOOL = "kafka.admin.ConfigCommand"


def test_a_brokers_own_value_is_removed_as_printed(apache_4_3: ApacheNodes, kafka_tool: KafkaTool) -> None:
    command = ("check", "run", partition_verification_disabled.id, "-b", apache_4_3.bootstrap, "-o", "json")
    set_on_every_broker(apache_4_3, SETTING, "false")
    try:
        (finding,) = eosctl(*command, "--exit-zero").json["items"]
        printed = [shlex.split(one["line"]) for one in finding["commands"]]
        changes = [words[1:] for words in printed if words[0] == "kafka-configs.sh"]
        assert len(changes) == 2
        for words in changes:
            assert kafka_tool(TOOL, *words).exit_code == 0
        for _ in range(1000):  # brokers follow the controller's answer
            if not eosctl(*command, "--exit-zero").json["items"]:
                break
        else:
            pytest.fail("the printed commands left the finding as it was")
    finally:
        set_on_every_broker(apache_4_3, SETTING, "true")
