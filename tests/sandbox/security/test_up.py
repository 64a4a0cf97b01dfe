"""`eosctl sandbox up` with a secured listener: its files, its output, and the absence of secrets."""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands.conftest import Done, eosctl

UP = ("sandbox", "up", "--name", "vault", "--brokers", "1", "--ephemeral", "--ttl", "10m", "--data-dir")
MASTER_KEY = "canary-of-all-tokens"
SHOW = "import json, os; print(json.dumps(dict(os.environ)))"


class Vault:
    """A secured sandbox in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.security = folder / "data" / "security"
        options = ("--sasl", "SCRAM_SHA_512", "--sasl", "plain", "--tls", "--authorizer", "--user", "alice")
        key = folder / "master-key"
        key.write_text(f"{MASTER_KEY}\n")
        reference = f"delegation.token.secret.key=${{file:{key}}}"
        self.started = eosctl(*UP, folder / "data", *options, "--config", reference)
        assert self.started.code == 0, self.started.err

    def passwords(self) -> list[str]:
        words: dict[str, str] = json.loads((self.security / "users.json").read_text())
        return list(words.values())

    def client(self, name: str) -> Path:
        return self.security / f"{name}.properties"


@pytest.fixture(scope="module", autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Isolate the tests of this module from the user's sandboxes and profiles."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(home / "state"))
        patch.setenv("XDG_CONFIG_HOME", str(home / "config"))
        for name in ("EOSCTL_BOOTSTRAP_SERVERS", "EOSCTL_COMMAND_CONFIG", "EOSCTL_PROFILE", "NO_COLOR", "COLUMNS"):
            patch.delenv(name, raising=False)
        yield home


@pytest.fixture(scope="module")
def vault(own_home: Path) -> Iterator[Vault]:
    try:
        yield Vault(own_home)
    finally:
        assert eosctl("sandbox", "down", "--name", "vault").code == 0


def test_files_are_private_and_no_output_holds_a_password(vault: Vault, capfd: pytest.CaptureFixture[str]) -> None:
    assert stat.S_IMODE(vault.security.stat().st_mode) == 0o700
    access = {path.name: stat.S_IMODE(path.stat().st_mode) for path in vault.security.iterdir()}
    assert access.keys() >= {"admin.properties", "alice.properties", "broker.pem", "client.properties", "users.json"}
    assert set(access.values()) == {0o600}
    assert str(vault.client("client")) in vault.started.out
    listed = eosctl("sandbox", "status", "-o", "json")
    assert listed.json["items"][0]["security_protocol"] == "SASL_SSL"
    assert listed.json["items"][0]["client_config"] == str(vault.client("client"))
    state = (vault.security.parent.parent / "state" / "eosctl" / "sandboxes" / "vault" / "state.json").read_text()
    logs = eosctl("sandbox", "logs", "--name", "vault").out
    output = vault.started.out + vault.started.err + listed.out + logs + state
    assert [word for word in vault.passwords() if word in output] == []
    arguments = Path(f"/proc/{json.loads(state)['pid']}/cmdline")
    assert MASTER_KEY not in (arguments.read_text() if arguments.exists() else "")
    # The private file of its state keeps what was configured.
    assert MASTER_KEY not in output.removesuffix(state)

    done = eosctl("sandbox", "exec", "--name", "vault", "--", sys.executable, "-c", SHOW)
    assert done.code == 0
    variables = json.loads(capfd.readouterr().out)
    assert variables["EOSCTL_COMMAND_CONFIG"] == variables["KAFKA_CLIENT_CONFIG"] == str(vault.client("client"))
    assert variables["KAFKA_SECURITY_PROTOCOL"] == "SASL_SSL"
    assert variables["KAFKA_SASL_MECHANISM"] == "SCRAM-SHA-512"
    assert variables["KAFKA_SASL_USERNAME"] == "admin"
    assert variables["KAFKA_SASL_PASSWORD"] in vault.passwords()
    assert Path(variables["KAFKA_SSL_CA_LOCATION"]).read_text().startswith("-----BEGIN CERTIFICATE")


def test_commands_reach_it_with_the_file_and_say_why_not_without(vault: Vault, tmp_path: Path) -> None:
    ready = vault.client("client")
    assert eosctl("doctor", "--command-config", ready).code == 0
    text = ready.read_text()
    word = text.rpartition('password="')[2].partition('"')[0]

    def refused(changed: str) -> Done:
        file = tmp_path / "changed.properties"
        file.write_text(changed)
        done = eosctl("txn", "list", "--command-config", file)
        assert done.code == 1, done
        assert "Traceback" not in done.err
        assert word not in done.err
        return done

    assert "SASL_AUTHENTICATION_FAILED" in refused(text.replace(word, "wrong")).err
    assert "not to be trusted" in refused("\n".join(line for line in text.splitlines() if "truststore" not in line)).err
    assert "TLS listener" in refused(text.replace("SASL_SSL", "SASL_PLAINTEXT")).err


def test_a_user_without_rights_gets_partial_evidence_and_no_pass(vault: Vault) -> None:
    alice = ("--command-config", vault.client("alice"))
    assert eosctl("txn", "list", *alice).code == 0
    complete = eosctl("check", "run", "--command-config", vault.client("client"), "-o", "json", "--require-complete")
    assert complete.code == 0
    partial = eosctl("check", "run", *alice, "-o", "json", "--require-complete")
    assert partial.code == 4
    checks = {check["id"]: check for check in partial.json["checks"]}
    assert checks["EOS-BRK-002"]["status"] == "skipped"
    assert "CLUSTER_AUTHORIZATION_FAILED" in checks["EOS-BRK-002"]["reason"]
    doctor = eosctl("doctor", *alice)
    assert "CLUSTER_AUTHORIZATION_FAILED" in doctor.out


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--sasl", "gssapi"), "--sasl gssapi is not known"),
        (("--user", "alice"), "--user needs --sasl"),
        (("--sasl", "plain", "--user", "../x"), "cannot be a user"),
        (("--sasl", "plain", "--user", "client"), "cannot be a user"),
        (("--config", "authorizer.class.name=com.example.A"), "com.example.A is not"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_runs(tmp_path: Path, options: tuple[str, ...], text: str) -> None:
    done = eosctl(*UP, tmp_path / "data", "--name", "refused", *options)
    assert done.code in (1, 2)
    assert text in done.err
    assert "refused" not in eosctl("sandbox", "status").out


def test_certificates_need_a_package_and_say_which(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from eosctl.errors import EosctlError
    from eosctl.sandbox.process.security_files import prepare_material
    from eosctl.sandbox.security.protocol import ListenerSecurity

    monkeypatch.setitem(sys.modules, "trustme", None)
    with pytest.raises(EosctlError) as refused:
        prepare_material(tmp_path, ListenerSecurity((), True), ("admin",), "localhost")
    assert "eosctl[tls]" in refused.value.next_step


def test_passwords_are_found_again_and_damage_is_named(tmp_path: Path) -> None:
    from eosctl.errors import EosctlError
    from eosctl.sandbox.process.security_files import prepare_material
    from eosctl.sandbox.security.protocol import ListenerSecurity

    security = ListenerSecurity(("PLAIN",), True)
    first = prepare_material(tmp_path, security, ("admin",), "localhost")
    again = prepare_material(tmp_path, security, ("admin", "alice"), "localhost")
    assert again.passwords["admin"] == first.passwords["admin"]
    assert set(again.passwords) == {"admin", "alice"}
    for content in ("[1]", "no json", '{"admin": 7}'):
        (tmp_path / "security" / "users.json").write_text(content)
        with pytest.raises(EosctlError, match="cannot be used"):
            prepare_material(tmp_path, security, ("admin",), "localhost")
