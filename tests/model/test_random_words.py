"""Random words behind a prefix are masked as tokens; what Kafka and its platforms write stays readable."""

from __future__ import annotations

import random
import re
import string
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from eosctl.model.random_words import random_spans
from eosctl.model.redaction import redact_text

FIXTURES: Final = Path(__file__).parents[1] / "fixtures"
_BASE62: Final = string.ascii_letters + string.digits
_HEXADECIMAL: Final = "0123456789abcdef"
_SMALL: Final = string.ascii_lowercase + string.digits
#: Shapes of tokens: the prefix, the alphabet of the random part, and its length.
SHAPES: Final = (
    ("sk_test_", _BASE62, 24), ("ghp_", _BASE62, 36), ("github_pat_", _BASE62, 22), ("tskey-auth-k", _BASE62, 32),
    ("squ_", _HEXADECIMAL, 40), ("aks_", _HEXADECIMAL, 64), ("CCIPAT_", _HEXADECIMAL, 40), ("PMAK-", _HEXADECIMAL, 34),
    ("sha256~", _BASE62, 43), ("pplx-", _BASE62, 48), ("mdb_sa_sk_", _BASE62, 40), ("NRII-", _BASE62, 32),
    ("rdme_", _SMALL, 70), ("abc_live_", _SMALL, 43), ("XYZ-", string.ascii_uppercase + string.digits, 32),
    ("any1-", _SMALL, 40), ("qa~", _BASE62, 24), ("new_v2_", string.ascii_lowercase + "234567", 64),
)  # fmt: skip
LOGS: Final = (".log", ".txt", ".out", ".err")


def word(chance: random.Random, alphabet: str, length: int) -> str:
    return "".join(chance.choice(alphabet) for _ in range(length))


@pytest.mark.parametrize(("prefix", "alphabet", "length"), SHAPES, ids=[prefix for prefix, _, _ in SHAPES])
def test_tokens_that_no_list_names_are_masked(prefix: str, alphabet: str, length: int) -> None:
    """A random word may read like a name: at most one in a hundred stays."""
    chance = random.Random(f"{prefix}{length}")
    tokens = [prefix + word(chance, alphabet, length) for _ in range(1_000)]
    texts = (f"refused {token} (a.B)" for token in tokens)
    kept = [token for token, text in zip(tokens, texts, strict=True) if token[-length:] in redact_text(text)]
    assert len(kept) <= 10, kept[:5]


def kafka_uuid(chance: random.Random) -> str:
    return urlsafe_b64encode(chance.randbytes(16)).decode().rstrip("=")


def plain_uuid(chance: random.Random) -> str:
    return str(uuid.UUID(bytes=chance.randbytes(16)))


#: Identifiers of Kafka, Flink, Kubernetes, and clouds.
IDENTIFIERS: Final[dict[str, Callable[[random.Random], str]]] = {
    "cluster": lambda chance: f"Cluster ID = {kafka_uuid(chance)}",
    "topic": lambda chance: f"with topic id Some({kafka_uuid(chance)})",
    "directory": lambda chance: f"1@host:9093:{kafka_uuid(chance)}, directoryId={kafka_uuid(chance)}",
    "cluster-in-a-name": lambda chance: f"bucket kafka-{kafka_uuid(chance)} is gone",
    "member": lambda chance: f"Member client-1-{plain_uuid(chance)} in group payments",
    "streams": lambda chance: f"[payments-{plain_uuid(chance)}-StreamThread-1-producer] started",
    "deleted": lambda chance: f"renamed to orders-0.{word(chance, _HEXADECIMAL, 32)}-delete",
    "pod": lambda chance: f"kafka-{word(chance, _SMALL, 10)}-{word(chance, _SMALL, 5)} restarted",
    "image": lambda chance: f"image a@sha256:{word(chance, _HEXADECIMAL, 64)} sha256-{word(chance, _HEXADECIMAL, 64)}",
    "integrity": lambda chance: f"sha512-{word(chance, _BASE62, 86)}==",
    "commit": lambda chance: f"Kafka commitId: {word(chance, _HEXADECIMAL, 16)}, git_{word(chance, _HEXADECIMAL, 40)}",
    "flink": lambda chance: f"Sink: x-{word(chance, _HEXADECIMAL, 32)}-0-1, job_{word(chance, _HEXADECIMAL, 32)}",
    "trace": lambda chance: f"trace_id=t-{word(chance, _BASE62, 20)}, 00-{word(chance, _HEXADECIMAL, 32)}-01",
    "client": lambda chance: f"[Producer clientId=c-{word(chance, _BASE62, 21)}] is ready",
    "transaction": lambda chance: f"transactionalId=t-{word(chance, _BASE62, 21)} group=g-{word(chance, _BASE62, 20)}",
    "container": lambda chance: f"cri-containerd-{word(chance, _HEXADECIMAL, 64)}.scope",
    "cloud": lambda chance: f"i-0{word(chance, _HEXADECIMAL, 16)}, vpce-0{word(chance, _HEXADECIMAL, 16)}",
}  # fmt: skip


@pytest.mark.parametrize("name", IDENTIFIERS)
def test_identifiers_stay(name: str) -> None:
    chance = random.Random(name)
    texts = [IDENTIFIERS[name](chance) for _ in range(300)]
    assert [redact_text(text) for text in texts] == texts


def test_no_word_of_the_logs_of_kafka_is_masked() -> None:
    """The logs of real brokers and clients hold one secret: a token that its poster cut."""
    lines = {
        re.sub(r"\d", "0", line): line
        for path in FIXTURES.rglob("*")
        if path.suffix in LOGS and path.is_file() and b"\0" not in (content := path.read_bytes())[:4096]
        for line in content.decode("utf-8", "replace").splitlines()
    }
    assert len(lines) > 10_000
    assert [line for line in lines.values() if "token: eyJh**4AKw" not in line and redact_text(line) != line] == []


@pytest.mark.parametrize(
    "text",
    [
        "kafka_server_AddPartitionsToTxnManager_FiveMinuteRate", "data-plane-kafka-socket-acceptor-ListenerName",
        "my_KafkaAdminClient2ThreadFactoryImpl", "TX_ISOLATION-READUNCOMMITTEDREQUESTS", "x-aaaaaaaaaaaaaaaaaaaaaaaa1",
        "app-00000000000000000000000006-changelog", "libzstd-jni-1.5.6-4123456789012345678.so",
    ],
)  # fmt: skip
def test_names_are_not_random(text: str) -> None:
    assert list(random_spans(text)) == []


def test_digits_are_alike() -> None:
    """Log mining remembers what is masked for all texts that differ in digits only."""
    chance = random.Random(7)
    for _ in range(500):
        text = f"x AVNX_{word(chance, _BASE62, 20)} tok-{word(chance, _HEXADECIMAL, 40)}"
        assert list(random_spans(text)) == list(random_spans(re.sub(r"\d", "7", text)))
