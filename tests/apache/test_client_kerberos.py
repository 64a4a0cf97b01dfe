"""Kerberos with a real broker and a real KDC: a keytab logs in, and what is wrong is named."""

from __future__ import annotations

import importlib.util
import random
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from eosctl.lab.apache.java import MIB, prepare_runtime
from eosctl.lab.apache.node import KafkaNode
from eosctl.lab.apache.nodes import random_cluster_id
from eosctl.lab.apache.ports import free_ports
from eosctl.lab.apache.properties import HOST, NodeAddress, node_settings, render_properties
from eosctl.lab.apache.releases import resolve_release
from eosctl.lab.engine import MissingTool
from tests.apache.kdc import REALM, Kdc, running_kdc
from tests.commands.conftest import Done, eosctl

pytestmark = pytest.mark.usefixtures("own_home")
MODULE: Final = "com.sun.security.auth.module.Krb5LoginModule"


class Kerberized(NamedTuple):
    """A broker that only lets in who has a ticket, and its KDC."""

    bootstrap: str
    kdc: Kdc
    keytab: Path


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kerberized]:
    if importlib.util.find_spec("gssapi") is None:
        pytest.skip("the extra kerberos is missing (Debian: libkrb5-dev)")
    try:
        runtime = prepare_runtime(resolve_release("4.4.0"))
    except MissingTool as missing:
        pytest.skip(f"{missing.tool} is missing: {missing.what}")
    home = tmp_path_factory.mktemp("kerberized")
    rng = random.Random()
    port, controller_port, login_port = free_ports(3, rng)
    address = NodeAddress(1, port, controller_port)
    with running_kdc(home) as kdc:
        service = f"kafka/{HOST}"
        keytab = f'keyTab="{kdc.keytab(service)}" principal="{service}@{REALM}"'
        listeners = f"PLAINTEXT://{HOST}:{port},LOGIN://{HOST}:{login_port}"
        overrides = {
            "listeners": f"{listeners},CONTROLLER://{HOST}:{controller_port}",
            "advertised.listeners": listeners,
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,LOGIN:SASL_PLAINTEXT",
            "sasl.enabled.mechanisms": "GSSAPI",
            "sasl.kerberos.service.name": "kafka",
            "listener.name.login.gssapi.sasl.jaas.config": f"{MODULE} required useKeyTab=true storeKey=true {keytab};",
        }
        options = (f"-Djava.security.krb5.conf={kdc.environment['KRB5_CONFIG']}",)
        node = KafkaNode(runtime, address, home / "node", heap_bytes=320 * MIB, jvm_options=options)
        settings = node_settings(address, [address], node.files.data_dir, overrides)
        node.prepare(render_properties(settings), random_cluster_id(rng), None)
        node.start()
        try:
            node.wait_ready(1, time.monotonic() + 90, threading.Event())
            yield Kerberized(f"{HOST}:{login_port}", kdc, kdc.keytab("ops"))
        finally:
            node.end(signal.SIGKILL)


def list_with(broker: Kerberized, folder: Path, monkeypatch: pytest.MonkeyPatch, **changed: str) -> Done:
    """List transactions with a login from the keytab, its settings changed."""
    options = {"useKeyTab": "true", "keyTab": f'"{broker.keytab}"', "principal": f'"ops@{REALM}"'} | changed
    service = options.pop("service", "kafka")
    words = " ".join(f"{name}={value}" for name, value in options.items() if value)
    file = folder / "client.properties"
    file.write_text(
        "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=GSSAPI\n"
        f"sasl.kerberos.service.name={service}\nsasl.jaas.config={MODULE} required {words};\n"
    )
    for name, value in broker.kdc.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("KRB5CCNAME", f"FILE:{folder}/none")
    return eosctl("txn", "list", "-b", broker.bootstrap, "--command-config", str(file), "-o", "json")


def test_a_keytab_logs_in(broker: Kerberized, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = list_with(broker, own_home, monkeypatch)
    assert (done.code, done.json["items"]) == (0, []), done.out


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"service": "kafkas"}, "Check sasl.kerberos.service.name (kafkas)"),
        ({"principal": f'"stranger@{REALM}"'}, "Check the keytab and its principal"),
        ({"useKeyTab": "false", "principal": ""}, "Get a ticket: kinit"),
    ],
)
def test_what_is_wrong_with_a_login_is_named(
    broker: Kerberized, own_home: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, str], reason: str
) -> None:
    done = list_with(broker, own_home, monkeypatch, **changed)
    assert done.code != 0
    assert reason in done.err
