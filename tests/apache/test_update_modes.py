"""Settings listed as changeable without a restart are not read-only in real brokers."""

from __future__ import annotations

from confluent_kafka.admin import AdminClient, ConfigResource

from eosctl.knowledge.parameter_tables import parse_release
from eosctl.knowledge.update_modes import READ_ONLY, load_update_modes
from eosctl.lab.apache.nodes import ApacheNodes

PATIENCE_S = 60


def test_real_brokers_agree(apache: ApacheNodes) -> None:
    admin = AdminClient({"bootstrap.servers": apache.bootstrap})
    asked = ConfigResource(ConfigResource.Type.BROKER, "1")
    release = ".".join(apache.name.removeprefix("apache ").split(".")[:2])
    (answer,) = admin.describe_configs([asked]).values()
    reported = {name: entry.is_read_only for name, entry in answer.result(PATIENCE_S).items()}
    assert len(reported) > 200
    assert {name: read_only for name, read_only in reported.items() if read_only is _is_dynamic(name, release)} == {}


def _is_dynamic(name: str, release: str) -> bool:
    spans = load_update_modes().settings.get(name, {})
    modes = [mode for since, mode in spans.items() if parse_release(since) <= parse_release(release)]
    return bool(modes) and modes[-1] != READ_ONLY
