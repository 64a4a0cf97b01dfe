from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.errors import ConfigFileError, UsageError
from eosctl.model.client_config import Endpoint, SaslMechanism, SecurityProtocol
from eosctl.model.secret import Secret
from eosctl.settings.clusters.client_properties import SECRET_NAMES
from eosctl.settings.clusters.client_resolution import resolve_client
from eosctl.settings.clusters.endpoints import parse_endpoints
from eosctl.settings.formats.properties_file import parse_properties
from eosctl.settings.values.jaas import parse_jaas

SCRAM_LINE = (
    "org.apache.kafka.common.security.scram.ScramLoginModule required "
    'username="ops" \\\n    password="p\\\\"ss word;=";'
)


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_a_java_client_file_becomes_the_typed_configuration(tmp_path: Path) -> None:
    file = write(
        tmp_path / "client.properties",
        "# how we connect\n"
        "bootstrap.servers = SASL_SSL://b1.example:9093, [2001:db8::1]:9094\n"
        "security.protocol=sasl_ssl\n"
        "sasl.mechanism=SCRAM-SHA-512\n"
        f"sasl.jaas.config={SCRAM_LINE}\n"
        "ssl.truststore.location=/etc/kafka/ca.pem\n"
        "ssl.endpoint.identification.algorithm=\n"
        "request.timeout.ms=1500\n"
        "group.id=orders\n",
    )
    resolved = resolve_client({}, command_config=file)
    config = resolved.config
    assert config.bootstrap == (Endpoint("b1.example", 9093), Endpoint("2001:db8::1", 9094))
    assert config.security_protocol is SecurityProtocol.SASL_SSL
    assert config.sasl is not None
    assert config.sasl.mechanism is SaslMechanism.SCRAM_SHA_512
    assert config.sasl.username == "ops"
    assert config.sasl.password == Secret('p"ss word;=')
    assert config.tls.ca_file == "/etc/kafka/ca.pem"
    assert config.tls.verify_hostname is False
    assert config.request_timeout_ms == 1500
    assert config.timeout_ms == 30_000
    assert config.ignored_keys == ("group.id",)
    assert resolved.warnings == ("client.properties:10: group.id has no effect on eosctl.",)


@pytest.mark.parametrize(("algorithm", "is_verified"), [("https", True), ("HTTPS", True), ("", False), ("none", False)])
def test_host_names_are_checked_unless_the_file_says_not(algorithm: str, is_verified: bool, tmp_path: Path) -> None:
    text = f"bootstrap.servers=b:9092\nssl.endpoint.identification.algorithm={algorithm}\n"
    file = write(tmp_path / "c.properties", text)
    assert resolve_client({}, command_config=file).config.tls.verify_hostname is is_verified


@pytest.mark.parametrize("algorithm", ["htps", "foo", '"https"', "false"])
def test_a_misspelled_algorithm_turns_no_check_off(algorithm: str, tmp_path: Path) -> None:
    text = f"bootstrap.servers=b:9092\nssl.endpoint.identification.algorithm={algorithm}\n"
    file = write(tmp_path / "c.properties", text)
    with pytest.raises(ConfigFileError, match=r"c\.properties:2: .* is not allowed"):
        resolve_client({}, command_config=file)


def test_no_output_of_the_result_holds_the_password(tmp_path: Path) -> None:
    file = write(
        tmp_path / "c.properties",
        "bootstrap.servers=b:1\nsecurity.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        'sasl.jaas.config=x.PlainLoginModule required username="u" password="hunter2";\n'
        "ssl.key.password=hunter2\nmy.vault.token=hunter2\n",
    )
    resolved = resolve_client({}, command_config=file)
    assert "hunter2" not in repr(resolved)
    assert "hunter2" not in " ".join(resolved.warnings)
    shown = {setting.name: setting.shown for setting in resolved.settings}
    assert shown["bootstrap.servers"] == "b:1"
    assert shown["my.vault.token"] == "[hidden]"


@pytest.mark.parametrize("name", sorted(SECRET_NAMES | {"my.vault.token", "sasl.oauthbearer.client.secret"}))
def test_an_argument_holds_no_secret(name: str) -> None:
    with pytest.raises(UsageError, match=name) as caught:
        resolve_client({}, bootstrap="b:1", overrides=[f"{name}=hunter2"])
    assert "hunter2" not in str(caught.value)


def test_the_nearest_source_wins(tmp_path: Path) -> None:
    write(
        tmp_path / "profiles.yaml",
        "profiles:\n  prod:\n    protected: true\n    properties:\n"
        "      bootstrap.servers: profile:1\n      client.id: from-profile\n      request.timeout.ms: 1\n"
        "      default.api.timeout.ms: 2\n      retry.backoff.ms: 3\n",
    )
    file = write(tmp_path / "c.properties", "client.id=file\nrequest.timeout.ms=30\nbootstrap.servers=file:1\n")
    environment = {
        "EOSCTL_CONFIG_DIR": str(tmp_path),
        "EOSCTL_PROFILE": "prod",
        "EOSCTL_REQUEST_TIMEOUT_MS": "4",
        "EOSCTL_DEFAULT_API_TIMEOUT_MS": "5",
    }
    resolved = resolve_client(environment, bootstrap="flag:1", command_config=file, overrides=["client.id=X"])
    config = resolved.config
    assert config.bootstrap == (Endpoint("flag", 1),)
    assert config.client_id == "X"
    assert config.request_timeout_ms == 30
    assert config.timeout_ms == 5
    assert config.retry_backoff_ms == 3
    assert (resolved.profile, resolved.protected) == ("prod", True)
    origins = {setting.name: setting.origin for setting in resolved.settings}
    assert origins == {
        "bootstrap.servers": "--bootstrap-server",
        "client.id": "-X",
        "request.timeout.ms": "c.properties:2",
        "default.api.timeout.ms": "EOSCTL_DEFAULT_API_TIMEOUT_MS",
        "retry.backoff.ms": "profile prod",
    }


def test_librdkafka_names_are_understood() -> None:
    resolved = resolve_client(
        {"KAFKA_PASSWORD": "secret"},
        overrides=[
            "metadata.broker.list=b:9092",
            "security.protocol=SASL_SSL",
            "sasl.mechanisms=PLAIN",
            "sasl.username=u",
            "sasl.password=${KAFKA_PASSWORD}",
            "ssl.ca.location=/ca.pem",
        ],
    )
    config = resolved.config
    assert config.bootstrap == (Endpoint("b", 9092),)
    assert config.sasl is not None
    assert (config.sasl.username, config.sasl.password) == ("u", Secret("secret"))
    assert config.tls.ca_file == "/ca.pem"
    assert resolved.warnings == ()


@pytest.mark.parametrize(
    ("mechanism", "line"),
    [
        ("PLAIN", "a.b.ScramLoginModule required username=u password=p;"),
        ("SCRAM-SHA-256", "a.b.PlainLoginModule required username=u password=p;"),
        ("PLAIN", "a.b.PlainLoginModule required username=u;"),
        ("PLAIN", "a.b.PlainLoginModule required username=u password='hunter2"),
        ("PLAIN", "a.b.PlainLoginModule username=u password=hunter2;"),
        ("PLAIN", "a.b.PlainLoginModule required username u password hunter2;"),
        ("GSSAPI", "com.sun.security.auth.module.Krb5LoginModule required;"),
        ("NONSENSE", "a.b.PlainLoginModule required username=u password=hunter2;"),
    ],
)
def test_a_login_that_cannot_work_is_refused_without_showing_it(mechanism: str, line: str) -> None:
    overrides = ["security.protocol=SASL_PLAINTEXT", f"sasl.mechanism={mechanism}"]
    with pytest.raises(ConfigFileError) as caught:
        resolve_client({"EOSCTL_SASL_JAAS_CONFIG": line}, bootstrap="b:1", overrides=overrides)
    assert "hunter2" not in str(caught.value)
    assert caught.value.next_step


@pytest.mark.parametrize(
    "text", ["", ",", "broker", "broker:", "broker:0", "broker:65536", "a b:1", "::1:9092", "[::1]", "b:9092x"]
)
def test_invalid_addresses_are_refused(text: str) -> None:
    with pytest.raises(ConfigFileError):
        parse_endpoints(text, "-b")


def test_a_typed_address_has_the_port_of_kafka_by_default() -> None:
    typed = resolve_client({}, bootstrap="localhost,[::1],b:1").config
    assert typed.bootstrap == (Endpoint("localhost", 9092), Endpoint("::1", 9092), Endpoint("b", 1))
    of_environment = resolve_client({"EOSCTL_BOOTSTRAP_SERVERS": "localhost"}).config
    assert of_environment.bootstrap == (Endpoint("localhost", 9092),)
    with pytest.raises(ConfigFileError):
        resolve_client({}, overrides=["bootstrap.servers=localhost"])


def test_an_override_without_equals_sign_is_refused_unseen() -> None:
    with pytest.raises(UsageError) as caught:
        resolve_client({}, bootstrap="b:1", overrides=["client.id=a", "hunter2"])
    assert "hunter2" not in str(caught.value)
    assert "-X number 2" in caught.value.what


def test_nothing_given_names_the_ways_to_give_it() -> None:
    with pytest.raises(ConfigFileError) as caught:
        resolve_client({})
    for way in ("-b", "--command-config", "--profile", "EOSCTL_BOOTSTRAP_SERVERS"):
        assert way in caught.value.next_step


@pytest.mark.parametrize("value", ["0", "-1", "1s", "", "１"])
def test_a_wait_must_be_a_positive_number_of_milliseconds(value: str) -> None:
    with pytest.raises(ConfigFileError, match=r"request\.timeout\.ms"):
        resolve_client({}, bootstrap="b:1", overrides=[f"request.timeout.ms={value}"])


def test_a_misspelled_key_is_reported_with_a_suggestion() -> None:
    resolved = resolve_client({}, bootstrap="b:1", overrides=["securty.protocol=SSL"])
    assert resolved.warnings == ("-X: securty.protocol has no effect on eosctl; did you mean security.protocol?",)


def test_a_file_that_is_not_there_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigFileError, match="No such file"):
        resolve_client({}, command_config=tmp_path / "absent.properties")


def test_properties_lines_count_comments_and_continuations() -> None:
    given_values = parse_properties("# one\n\na=1\nb=2\\\n  3\r\nc : x\\u0041\na=9\n", "f")
    assert {name: tuple(value) for name, value in given_values.items()} == {
        "a": ("9", "f:7"),
        "b": ("23", "f:4"),
        "c": ("xA", "f:6"),
    }


def test_a_broken_escape_names_file_and_line() -> None:
    with pytest.raises(ConfigFileError, match="f:2"):
        parse_properties("a=1\nb=\\uXYZ1\n", "f")


@given(
    st.dictionaries(
        st.from_regex(r"[a-zA-Z_]{1,8}", fullmatch=True), st.text(st.characters(codec="utf-8"), max_size=12), max_size=4
    )
)
def test_every_quoted_option_of_a_login_line_survives(options: dict[str, str]) -> None:
    def quoted(text: str) -> str:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

    line = "pkg.Module required " + " ".join(f"{key}={quoted(value)}" for key, value in options.items()) + ";"
    entry = parse_jaas(line, "f:1")
    assert entry.module_name == "Module"
    assert entry.options == options


@given(st.text(max_size=60))
def test_any_login_line_is_parsed_or_refused(text: str) -> None:
    try:
        parse_jaas(text, "f:1")
    except ConfigFileError as error:
        assert error.next_step
