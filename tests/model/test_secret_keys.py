"""A name that ends with a key is secret, in any spelling, unless the key is one of data."""

from __future__ import annotations

import re
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eosctl.model.named_secrets import is_secret_name
from eosctl.model.redaction import redact_text
from tests.model.positions import CANARY

_OWNERS: Final = (
    "app",
    "fernet",
    "aes",
    "integration",
    "ingest",
    "agent",
    "gossip",
    "activation",
    "bind",
    "db",
    "admin",
)
_LASTS: Final = ("key", "secret", "token", "password", "passwd", "passphrase", "credential", "pw")
_OF_DATA: Final = (
    "key", "partition.key", "partitionKey", "RECORD_KEY", "message-key", "primary key", "sortkey", "dedupKey", "monkey",
    "voterKey", "topologyKey", "publicKey", "Windowed key",
)  # fmt: skip


def _spelled(owner: str, last: str, style: str) -> str:
    if style == "camel":
        return owner + last.capitalize()
    return owner.upper() + "_" + last.upper() if style == "ENV" else f"{owner}{style}{last}"


@given(
    st.sampled_from(_OWNERS), st.sampled_from(_LASTS), st.sampled_from(["camel", "ENV", ".", "_", "-", "__"]),
    st.sampled_from(["x.", "MY_", "dd-", ""]), st.sampled_from(["=", ": ", " = ", '="', " => "]),
)  # fmt: skip
@settings(max_examples=400, deadline=None)
def test_the_last_part_of_a_name_decides(owner: str, last: str, style: str, before: str, sign: str) -> None:
    name = before + _spelled(owner, last, style)
    end = '"' if sign.endswith('"') else ""
    for value in (f"{CANARY}horse", f"{CANARY}f876ffc474c02519"):
        for text in (f"{name}{sign}{value}{end}", f"refused: {name}{sign}{value}{end} (a.B)"):
            assert CANARY not in redact_text(text)
    assert is_secret_name(name)
    assert CANARY not in redact_text(f'{{"name": "{name}", "value": "{CANARY}"}}')


@pytest.mark.parametrize("name", _OF_DATA)
@pytest.mark.parametrize("sign", ["=", ": ", " = ", '":"'])
def test_keys_of_data_stay(name: str, sign: str) -> None:
    text = f"processed {name}{sign}order-17 of t"
    assert redact_text(text) == text
    assert not is_secret_name(name.replace(" ", "_"))


@pytest.mark.parametrize(
    "text",
    [
        "VoterNode(nodeKey=ReplicaKey(id=1, directoryId=x)), anyKey=Optional.empty, someKey=17, oneKey=true",
        "the following key: orders, duplicate key: 7, each key: a-b-c", "hash_key=orders routingKey=orders.created",
        "rack: {topologyKey: topology.kubernetes.io/zone}", "expireDelegationTokens: unable to start processing",
        "abcdefghijklmnpw== and aGVsbG8gd29ybGPw= next", "bindpw is not set, requirepass was not given",
        "auth=User:alice auth: SASL_SSL auth=kerberos:HTTP/h sid=ORCL session: expired cookie=none",
        "sessionId=0x1000003e0000001 session=5 session_id=0f0e0d0c-1b2a-4c3d-8e4f-0a1b2c3d4e5f",
    ],
)  # fmt: skip
def test_values_of_other_kinds_stay(text: str) -> None:
    assert redact_text(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "bindpw {}", "rootpw {}", "olcRootPW: {}", "requirepass {}", "masterauth {}", "login bob password {}", "psk={}",
        "cloud.auth=elastic:{}", 'cloud.auth: "elastic:{}"', "ELASTIC_AUTH=elastic:{}", "basicAuth=bob:{}",
        "basic_auth: bob:{}", "userinfo=bob:{}", "mnemonic: {}", "seed phrase: {}", "auth_code: {}", "code_verifier={}",
        "token {}f876ffc474c0251908fc", "apikey {}f876ffc474c0251908fc", "the api key is {}f876ffc474c0251908fc",
        "-H Authorization:Bearer\\ {}f876ffc474", "session: {}f876ffc474c0251908fc", "routing_key: {}f876ffc474c025190",
        "PHPSESSID={}8u82xn2vh6yo4i", "RABBITMQ_ERLANG_COOKIE={}62HSJI3FDBXO6E58", "encrypt: {}G1yKwILALo5vR67b2rMQ=",
        "Unseal Key 1: {}G1yKwILALo5vR67b2rMQSkS3u9I5KKgT=", "Recovery Key 2: {}G1yKwILALo5vR67b2rMQSkS3u9I5KKgT=",
        "product key: {}5PYDPZXYOLSQWQDVHNOT2LK", "APP_KEY=base64:{}", "fernet_key = {}", "x-functions-key: {}==",
        "geslo={}", "kata sandi: {}", "totp: {}B3SWY3DPEHPK3PXP",
    ],
)  # fmt: skip
def test_further_names_of_secrets(text: str) -> None:
    shown = redact_text(text.format(CANARY))
    assert CANARY not in shown
    assert re.match(r"\W*\w+", text)[0] in shown  # type: ignore[index]
