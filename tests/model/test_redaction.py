"""Secrets in text are masked wherever they stand, in time that is linear in the length of the text."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings

from eosctl.collect.bundles.redaction import redacted_lines
from eosctl.knowledge.protocol import load_protocol
from eosctl.model.api_names import is_api_name
from eosctl.model.named_secrets import TOPIC_ERRORS
from eosctl.model.redaction import redact_address, redact_line, redact_text, setting_text
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from tests.commands.conftest import eosctl
from tests.model.positions import BARE, BOUNDED, CANARY, IN_ADDRESSES, TOKENS, pem, planted


@given(planted())
@settings(max_examples=600, deadline=None)
def test_a_secret_is_masked_in_every_position(chosen: tuple[str, str]) -> None:
    position, text = chosen
    assert CANARY in text
    masked = redact_text(text)
    assert CANARY not in masked, position
    assert "[hidden]" in masked
    assert CANARY.encode() not in redact_line(text.encode())


@pytest.mark.parametrize("token", TOKENS)
def test_tokens_are_known_by_their_shape(token: str) -> None:
    for text in (f"refused {token} (a.B)", f'{{"m":"{token}"}}', f"x={token}&y", f"h://{token}"):
        assert CANARY not in redact_text(text)


@pytest.mark.parametrize(
    ("name", "is_secret"),
    [
        ("ssl.key.password", True), ("KAFKA_SASL_JAAS_CONFIG", True), ("api.key", True), ("db.pwd", True),
        ("delegation.token.master.key", True), ("azure.account.key", True), ("basic.auth.user.info", True),
        ("delegation.token.max.lifetime.ms", False), ("sasl.oauthbearer.token.endpoint.url", False),
        ("ssl.keystore.location", False), ("key.serializer", False), ("password.encoder.iterations", False),
    ],
)  # fmt: skip
def test_settings_are_secret_by_the_names_of_text(name: str, is_secret: bool) -> None:
    assert (CANARY in setting_text(name, CANARY)) is not is_secret


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ('failed: password="two words" (a.B)', 'failed: password="[hidden]" (a.B)'),
        (r'{"m":"x password=\"two \\\"w\\\" s\" y","z":1}', r'{"m":"x password=\"[hidden]\" y","z":1}'),
        ("url https://me:p@ss/w@host:80/x?y=1 down", "url https://me:[hidden]@host:80/x?y=1 down"),
        ("a://u:p@h1:1,b://v:q@h2:2 x", "a://u:[hidden]@h1:1,b://v:[hidden]@h2:2 x"),
        ("failed: password = two words (a.B)", "failed: password = [hidden] (a.B)"),
        ("password (cut.1|x) of host (kb-1:9092)", "password ([hidden]) of host (kb-1:9092)"),
        ("failed: password = two words, user = me", "failed: password = [hidden], user = me"),
        ("IDENTIFIED BY 'a b' x", "IDENTIFIED BY '[hidden]' x"),
        ("alter user bob identified by x", "alter user bob identified by [hidden]"),
        ("pass\u200bword\u00a0=\u00a0x y", "pass\u200bword\u00a0=\u00a0[hidden]"),
        ("curl -u me:x http://h", "curl -u me:[hidden] http://h"),
        ("a: 1\npassword: |\n  x\n  y\nb: 2", "a: 1\npassword: [hidden]\nb: 2"),
        ("k = -----BEGIN EC PRIVATE KEY----- MI -----END EC PRIVATE KEY----- (a.B)", "k = [hidden] (a.B)"),
        (
            'L.PlainLoginModule required user_id="x" user_b=y;',
            'L.PlainLoginModule required user_id="[hidden]" user_b=[hidden];',
        ),
        ("\tssl.key.password = two words\n\tacks = all", "\tssl.key.password = [hidden]\n\tacks = all"),
    ],
)
def test_what_stands_around_a_secret_stays(text: str, masked: str) -> None:
    assert redact_text(text) == masked
    assert redact_text(masked) == masked


@pytest.mark.parametrize(
    "text",
    [
        "\tssl.key.password = null",
        "sasl.jaas.config = [hidden]",
        "org.apache.kafka.common.errors.DelegationTokenExpiredException: Delegation Token is expired.",
        "at com.acme.SecretStore.load(SecretStore.java:10)",
        "http://host:8080/path?mail=me@example.org",
        "controller.quorum.voters=1@localhost:9093,2@localhost:9094",
        "basic authentication failed for java.lang.Object@1f2e3d",
        "user name and password authentication failed, with password of length 8",
        "the password is not set; bypass=true; 12 partitions were assigned: sign=1",
        "kafka-topics -p 3 -u me -a",
        "ssh -p 2222 host1; mkdir -p /var/lib/k1; java -p lib1/b1.jar; tar -p file1.tar.gz; x -p h1:9092 -p a1=b",
        "run.sh -p $PASSWORD -p ${PASSWORD1} -p my-project-1 -port12345x -profile2 -preview1",
        "the member identified by group.instance.id shop-1 was identified as a leader",
        "security.authorization: none",
        'user_id="7" user_name="me" user_count=3 for user_me=x',
        "--credentials was given, and no --metrics.",
        "getPassword(Native Method) getToken() token (5 partitions) password [optional] TokenBucket(rate=5)",
        "Unexpected token END_OBJECT at [Source: x; line: 1]",
        "failed to parse token:\n\tat a.b.C.d(C.java:1)",
        "Secret kafka/my-user not found",
        "Initialized transactionalId shop-0 with producerId 4 and epoch 0",
        "RequestHeader(apiKey=DESCRIBE_ACLS, apiVersion=3, clientId=a, correlationId=5, headerVersion=2)",
        'requestHeader":{"requestApiKey":1,"requestApiVersion":17,"requestApiKeyName":"FETCH","clientId":"a"}',
        "Received request api key METADATA; apiKeys=[FETCH(1), METADATA(3)]; apiKey=ListOffsets was refused",
        "ApiVersion(apiKey=22, minVersion=0, maxVersion=5)",
        "secretName: kafka-user, token_type: Bearer, passwordLength=8, token.lifetime.ms=5, credentialProvider=vault",
        "INFO  Invalid password\n2026-11-20 10:00:00 INFO  hello you",
        "failed to validate user, password, and realm\n\tat a.b(c.java:1)\nfoo, bar, baz",
        "TOKENID  OWNER  PASSWORD TYPE\nabc      me     SCRAM",
        "checking token, interval=5, last=6",
        "Unexpected token | at line 3, and a || token || b",
        "sha512-" + "a1+/" * 21 + "aa==",
        "Session id 0x1000003e0000001, fetch session (sessionId=1234567890, epoch=5), key=order-17, auth=SASL_SSL",
        "Invalid value 5 for configuration acks: must be 0, 1, or all",
        "kind: ConfigMap\ndata:\n  acks: all\n---\nkind: Secretary\ndata:\n  a: b",
        "at com.sun.proxy.$Proxy12$abcdefghijklmnop, kafka.server.KafkaApis$$anonfun$1$adapted_abcdefghijk",
        "<tr><th>topic</th><td>orders</td></tr> <b>offset</b>: 12",
        '{"columns":["topic","offset"],"rows":[["orders",5]]}',
        "INSERT INTO t (a, b) VALUES ('x', 'y')",
        "C:\\new\\topics\\users \\u00e9",
        "cat <<EOF\nacks=all\nEOF",
        "Renewed token\nand more",
        "deletion of s.ConsumerCoordinator and s.abcdefghijklmnopqrstuvwx, v1.local.topic, a key-value store",
        '<input name="topic" value="orders">',
        'Content-Disposition: form-data; name="file"\n\norders\n--',
        "{topic=orders, partition=1, offset=17 of 20}",
        "setting the offset of partition 3 to 17",
        "Error while fetching metadata with correlation id 3 : {token_delta=LEADER_NOT_AVAILABLE}",
        "{orders=UNKNOWN_TOPIC_OR_PARTITION, password-resets=INVALID_TOPIC_EXCEPTION, api-key-use-0=UNKNOWN_TOPIC_ID}",
    ],
)
def test_other_texts_stay(text: str) -> None:
    assert redact_text(text) == text


def test_an_address_keeps_its_user_and_host() -> None:
    assert redact_address("alice:p@ss:w/x@host:9092") == "alice:[hidden]@host:9092"
    assert redact_address("kafka://token@host:9092") == "kafka://[hidden]@host:9092"
    assert redact_address("host:9092") == "host:9092"


@pytest.mark.parametrize(
    "name", ["senha", "Wachtwoord", "lösenord", "HESLO", "hasło", "jelszó", "ŞİFRE", "암호", "ПАРОЛЬ"]
)
@pytest.mark.parametrize("sign", ["=", ": ", " => ", "|"])
def test_passwords_have_names_in_many_languages(name: str, sign: str) -> None:
    assert CANARY not in redact_text(f"refused: {name}{sign}{CANARY}")


def test_every_request_is_known_by_its_name() -> None:
    names = [*(key.name for key in ApiKey), *load_protocol().apis]
    assert [name for name in names if not is_api_name(name)] == []
    assert not is_api_name("hunter_two")


@pytest.mark.parametrize("text", ["apiKey=hunter", "apiKey=FETCH-2", "api.key=1234567, version=1", "apiKey=12, a=b"])
def test_other_keys_of_apis_are_masked(text: str) -> None:
    assert "[hidden]" in redact_text(text)


def test_every_error_of_topics_is_one_of_kafka() -> None:
    assert set(TOPIC_ERRORS.split()) - set(ErrorCode.__members__) == {"NOT_LEADER_FOR_PARTITION"}
    for name in TOPIC_ERRORS.split():
        assert name in redact_text(f"{{token_delta={name}}}")


@pytest.mark.parametrize(
    "text",
    [
        "{password=hunter2, token_delta=LEADER_NOT_AVAILABLE}",
        "{token_delta=LEADER_NOT_AVAILABLE_2}",
        "password=LEADER_NOT_AVAILABLE",
        "{token=LEADER_NOT_AVAILABLE-x}",
    ],
)
def test_only_errors_in_maps_of_topics_stay(text: str) -> None:
    assert "[hidden]" in redact_text(text)


HOSTILE = (
    'a,"', "user,password\na,b\n", "password|a|", "A  PASSWORD  B\n", "name,value\n", "password\t",
    '"name":"password","a":"', '"password",a:b,', "value:a,b:c,", "\x1b[0m",
    "password|", "password |a b ", "|\\|", 'password", "', "apiKey=A", "a/b@c:", "password is ", "password[0",
    "==a ",
    "kennwort", "contrasen", "mot de passe", "client key ", "hooks.slack.com/services/",
    "password=", 'password="', "password: 'x ", "token=[", 'token={"', "secret\\", '"\\', "secret.", "<password>",
    "password</a><a>", "--password ", "http://a:", "http://a:1/", "eyJ-", "eyJaaaaaaaaa.", "jdbc:oracle:x:a/", "@a:1",
    "a:b@h:1", "password = ", "password: |\n a\n", "password: |\n", "  a\n", ";password=a ",
    "and password ", "password is ", "identified by ", "!a ", " -p", "mysql -pa", " -u a:",
    " -p a1", " -P 'a1", " -p $", " -u", "\u200b", "pass\u200bword=", "\u00a0", "\\\n",
    "password%3D", "password\\u003d", "&quot;", "%20", "value=a,", "value=", "value: a\n name: ", "<password><![CDATA[",
    "<a b='password'>", "password (", "passwords {", "password for a", "cookie: ", "authorization: digest ", "ghp_",
    "sk-a", "a/b@//", "password:\n  ", "AKIA", " -p'", "password a1.", "token a1",
    "-----END KEY-----", "aaaaaaaaaaaaaaaaaaaa\\n", "http://a@b ", "sig=a&", "-----BEGIN KEY-----", "-----",
    "password = <<A\n", "password='''", '? password\n: "', "kind: Secret\ndata:\n  a: b\n", "kind:Secret data:{",
    "\\n", "\\u",
    '\\"[<', "<td>", "</td><td>password", "<input value=", "into a (password) values ('", '["a","password"]', '[["a"],',
    'form-data; name="password"\n\n', "nvalid value ", " for configuration ssl.key.password", "c=a,r=b,p=", "psk=aA1",
    "$6$a$", "$ANSIBLE_VAULT;1;A\na\n", "Private-Lines: 1\n", "{password=a b", "password -> ", 'password="a" "', "s.a1",
    "password:\n", "password to ", "password changed from a to ", "[--token, ", ":AA", "MIIa", "password=[hidden]",
    "sk_", "aB1", "_aB1aB1aB1aB1aB1aB1", "a-b-c-d_", "app_key=", "key", "_key ", "auth=a:", "hook/", "hooks.a/",
    "Key 1: ", '"kty""k":"aaaaaaaaaaaaaaaaaa",', "bindpw ", "login a ", "session=a", "SCRAM-SHA-1$1:",
    "basic a", "x", 'user_a="', 'user_a=\\"', "user_a=loginmodule ", "user_", "password  ", "=@",
)  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_no_text_takes_more_than_linear_time(unit: str) -> None:
    def processor_time(size: int) -> float:
        text = unit * (size // len(unit)) + "@"
        started = time.process_time()
        redact_text(text)
        return time.process_time() - started

    # Eight times the text: eight times the time, where quadratic would be 64 times. Little is all the same.
    if processor_time(50_000) < 0.1:
        return
    small, large = (min(processor_time(size) for _ in range(2)) for size in (6_250, 50_000))
    assert large < max(0.1, 24 * small)


def test_values_of_several_lines_vanish_from_a_log(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    body = pem("x", "\n").partition("\n")[2]
    values = (
        f"password: |\n  {CANARY}\n  {CANARY}", f"password=\\\n   {CANARY}",
        f"<password>\n  {CANARY}\n</password>", f"<password>\n<![CDATA[\n{CANARY}\n]]></password>",
        f"- name: DB_PASSWORD\n  value: {CANARY}", f"- value: {CANARY}\n  name: DB_PASSWORD",
        f"password:\n  - {CANARY}\nuser: x", f"password:\n    {CANARY}\nuser: x", f'"password":\n   "{CANARY}",',
        f'{{\n "name": "password",\n "value": "{CANARY}"\n}}', f'{{\n "value": "{CANARY}",\n "name": "password"\n}}',
        f"<name>ssl.key.password</name>\n <value>{CANARY}</value>",
        f"user,password\nme,{CANARY}\nyou,{CANARY}", f"USER  PASSWORD\nme    {CANARY}\nyou   {CANARY}",
        f"2026-11-20 10:00:00,000 INFO user,password\n2026-11-20 10:00:00,001 INFO you,{CANARY}",
        f'"tokens": [\n  "{CANARY}"\n]', f"a: b \\\n  c password = a \\\n  {CANARY}",
        f"failed: {CANARY * 4}\n{body} (a.B)",
    )  # fmt: skip
    log.write_text("".join(f"before\n{value}\nnext\n" for value in values))
    text = b"".join(redacted_lines(log.read_bytes())).decode()
    assert CANARY not in text
    assert (text.count("before"), text.count("next")) == (len(values), len(values))
    assert text.count("\n") == log.read_text().count("\n")


def test_pem_blocks_of_several_lines_vanish_from_a_log(tmp_path: Path) -> None:
    block = pem("x", "\n").replace("-----END", "another thread logs (a.B)\n-----END")
    wrapped = "".join(f'{{"log":"{line}\\n","stream":"stdout"}}\n' for line in pem("y", "\n").splitlines())
    log = tmp_path / "app.log"
    log.write_text(f"before\nkey: {block} after\n{wrapped}behind\n")
    text = b"".join(redacted_lines(log.read_bytes())).decode()
    assert CANARY not in text
    assert [word in text for word in ("before", "another thread logs", " after", "behind")] == [True] * 4
    assert text.count("\n") == log.read_text().count("\n")
    cut = b"".join(redacted_lines(log.read_bytes()[48:], is_cut=True)).decode()
    assert CANARY not in cut
    assert "another thread logs" in cut


TEXTS = (
    *(position(f'{CANARY} two "quoted" \\ {CANARY}') for position in BOUNDED.values()),
    *(position(f"{CANARY}-{CANARY}") for position in BARE.values()),
    *(position(f"{CANARY}p@ss/w:{CANARY}") for position in IN_ADDRESSES.values()),
)
FORMATS = ("table", "wide", "json", "yaml", "tsv", "html", "markdown")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of errors with a secret in each position, in messages and in the lines that follow."""
    path = tmp_path_factory.mktemp("logs") / "app.log"
    fenced = "org.apache.kafka.common.errors.ProducerFencedException"
    with path.open("w") as file:
        for number, text in enumerate(TEXTS):
            head = f"2026-11-21 12:00:{number % 60:02d},000 ERROR [Producer clientId=a, transactionalId=t-{number % 3}]"
            file.write(f"{head} Error: {text}\n{fenced}: refused\n")
            file.write(f"{head} failed\n{fenced}: {text}\n\tat a.B.c(B.java:1)\nCaused by: a.BException: {text}\n")
            file.write(f"{head} {fenced}: {text}\n")
    return path


@pytest.mark.parametrize(
    "command",
    [
        *(("logs", "report", "LOG", "-o", form) for form in FORMATS),
        *(("logs", "scan", "LOG", "-o", form) for form in ("table", "wide", "json", "tsv")),
        *(("logs", "exceptions", "LOG", "-o", form) for form in ("table", "json", "tsv")),
        *(("doctor", "--logs", "LOG", "-o", form) for form in ("wide", "json", "html", "markdown", "sarif")),
    ],
    ids=" ".join,
)
def test_no_command_repeats_a_secret_of_a_log(log: Path, command: tuple[str, ...]) -> None:
    done = eosctl(*(log if word == "LOG" else word for word in command))
    assert done.code in (0, 3), done.err
    assert done.out
    assert CANARY not in done.out + done.err


@pytest.mark.parametrize(
    "command",
    [
        ("logs", "report", "kafka://alice:CANARYpw@127.0.0.1:1/logs"),
        ("logs", "report", "kafka://alice:CANARY@pw@127.0.0.1/logs?x=y"),
        ("logs", "scan", "kafka://alice:CANARYpw@127.0.0.1:1"),
        ("logs", "report", "https://alice:CANARYpw@127.0.0.1:1/logs"),
        ("doctor", "-b", "alice:CANARY/pw@broker"),
        ("doctor", "-b", "alice:CANARYpw@broker:9092,other:9092", "-o", "json"),
        ("txn", "list", "-b", "SASL_SSL://alice:CANARYpw@broker:9092"),
        ("doctor", "--jmx", "http://alice:CANARYpw@broker:9404/metrics"),
        ("decode", "segment", "https://alice:CANARYpw@broker/x.log"),
        ("config", "lint", "https://alice:CANARYpw@broker/x.properties"),
        ("config", "lint", "https://alice:CANARYpw@broker/x.properties", "-o", "json"),
        ("snapshot", "show", "https://alice:CANARYpw@broker/x.zip"),
    ],
    ids=" ".join,
)
def test_no_error_repeats_a_password_of_the_command_line(command: tuple[str, ...]) -> None:
    done = eosctl(*command)
    assert done.code in (1, 2, 4)
    assert done.err
    assert CANARY not in done.out + done.err
