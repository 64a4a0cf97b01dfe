"""JMX of a real JVM with a password and TLS: valid credentials work, and missing ones are reported by name."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from eosctl.lab.apache.java import find_java
from eosctl.lab.apache.node import QUICK_START
from eosctl.lab.apache.releases import resolve_release
from tests.commands.conftest import Done, eosctl
from tests.free_port import free_port

PASSWORD = 'c4nary"#@!'
STORE_PASSWORD = "c4nary st0re"
LONG_S = 180
REMOTE = "com.sun.management.jmxremote."


class Remote(NamedTuple):
    """A JVM with remote JMX, and its address."""

    url: str
    process: subprocess.Popen[bytes]


def keytool(*arguments: str | Path) -> None:
    if shutil.which("keytool") is None:
        pytest.skip("keytool is missing: it comes with Java")
    words = ["keytool", *map(str, arguments), "-storepass", STORE_PASSWORD, "-storetype", "PKCS12"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=LONG_S)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a key with its certificate (key.p12), and a truststore of that certificate (trust.p12)."""
    folder = tmp_path_factory.mktemp("stores")
    key, trust, certificate = folder / "key.p12", folder / "trust.p12", folder / "certificate"
    name = ("-dname", "CN=localhost", "-ext", "san=ip:127.0.0.1", "-validity", "3650")
    keytool("-genkeypair", "-alias", "b", "-keyalg", "EC", *name, "-keystore", key)
    keytool("-exportcert", "-alias", "b", "-keystore", key, "-file", certificate)
    keytool("-importcert", "-noprompt", "-alias", "b", "-file", certificate, "-keystore", trust)
    password, access = folder / "password", folder / "access"
    password.write_text(f"monitor {PASSWORD}\n", "utf-8")
    password.chmod(0o600)
    access.write_text("monitor readonly\n", "utf-8")
    return folder


@contextmanager
def remote(stores: Path, jars: Path, options: Mapping[str, object]) -> Iterator[Remote]:
    """Run a producer of Kafka's own that waits for input, with its JMX behind a password and more."""
    port = free_port()
    given: dict[str, object] = {
        "port": port, "rmi.port": free_port(), "host": "127.0.0.1", "authenticate": "true",
        "password.file": stores / "password", "access.file": stores / "access", **options,
    }  # fmt: skip
    java = find_java(resolve_release("4.3.1"))
    command = [str(java), "-Xmx64m", *QUICK_START, "-Djava.rmi.server.hostname=127.0.0.1"]
    command += [f"-D{REMOTE}{name}={value}" for name, value in given.items()]
    for kind, file in (("keyStore", "key.p12"), ("trustStore", "trust.p12")):
        command += [f"-Djavax.net.ssl.{kind}={stores / file}", f"-Djavax.net.ssl.{kind}Password={STORE_PASSWORD}"]
    main = ("-cp", f"{jars}/*", "org.apache.kafka.tools.ConsoleProducer")
    process = subprocess.Popen(
        [*command, *main, "--bootstrap-server", "127.0.0.1:1", "--topic", "t"],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield Remote(f"jmx://127.0.0.1:{port}", process)
    finally:
        process.kill()
        process.communicate()


def credentials(folder: Path, **settings: str) -> Path:
    path = folder / "credentials.properties"
    path.write_text("".join(f"{key.replace('_', '.')}={value}\n" for key, value in settings.items()), "utf-8")
    return path


def show(there: Remote, given: Path) -> Done:
    """Read the beans, as soon as the JVM listens and its producer has any."""
    ends_at = time.monotonic() + LONG_S
    while True:
        done = eosctl("metrics", "show", there.url, "--credentials", given, "--timeout", "120s", "-o", "json")
        early = "Connection refused" in done.err or "has none of the metrics" in done.err
        if not early or time.monotonic() > ends_at:
            break
        assert there.process.poll() is None, "the JVM has ended"
    # After any failure, the output has no secret and no stack trace of Java or Python.
    assert "c4nary" not in done.out + done.err
    assert "Traceback" not in done.err
    assert "\tat " not in done.err
    return done


@pytest.mark.timeout(1800)
def test_passwords_and_certificates(stores: Path, kafka_jars: Path, tmp_path: Path) -> None:
    user = {"username": "monitor", "password": PASSWORD}
    trust = {"ssl_truststore_location": str(stores / "trust.p12"), "ssl_truststore_password": STORE_PASSWORD}
    key = {"ssl_keystore_location": str(stores / "key.p12"), "ssl_keystore_password": STORE_PASSWORD}
    with ExitStack() as stack:

        def start(**options: object) -> Remote:
            return stack.enter_context(remote(stores, kafka_jars, {k.replace("_", "."): v for k, v in options.items()}))

        tls = start(ssl="true")
        registry = start(ssl="true", registry_ssl="true")
        mutual = start(ssl="true", ssl_need_client_auth="true")
        expected = [
            (tls, user | trust, 0, ""),
            (tls, user, 1, "a certificate that is not trusted"),
            (tls, user | trust | {"password": "wrong"}, 1, "refuses this user name or password"),
            (tls, trust, 1, "wants a user name and password"),
            (tls, user | trust | {"ssl_truststore_password": "c4nary wrong"}, 1, "cannot open the truststore"),
            (mutual, user | trust | key, 0, ""),
            (mutual, user | trust, 1, "ssl.keystore.location"),
            (registry, user | trust, 1, "registry.ssl=false"),
        ]
        for there, given, code, said in expected:
            done = show(there, credentials(tmp_path, **given))
            assert (done.code, said in done.err) == (code, True), (said, done.err)
            if not code:
                assert "record-error-rate" in {item["metric"] for item in done.json["items"]}
