"""Claims that circulate about exactly-once and are wrong are not repeated: in code, knowledge, profiles or docs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
TEXTS = (
    "eosctl/**/*.py",
    "eosctl/**/*.yaml",
    "eosctl/**/*.toml",
    "eosctl/**/*.j2",
    "config_profiles/*.*",
    "docs/**/*.md",
)
# A myth may be named by the sentence that warns of it.
WARNING = re.compile(
    r"\b(never|not|no|nor|nobody|without|instead of|neither|n't|wrong|misspelled|hang|refused?)\b", re.IGNORECASE
)
BEFORE, AFTER = 80, 60
# Corrections know the names that never existed; what is refused, and what people did, has to be named.
CORRECTIONS = {
    "misspelled_setting.py",
    "EOS-CFG-089.md",
    "refusals.toml",
    "myths.toml",
    "symptoms.toml",
    "answers-zh.toml",
}


class Myth(NamedTuple):
    """A wrong claim: how one finds it, and a sentence that makes it."""

    pattern: str
    sentence: str


MYTHS = {
    "recover by deleting the transaction log": Myth(
        r"delet\w* (the )?(topic )?`?__transaction_state", "Recover by deleting __transaction_state."
    ),
    "grow the transaction log by a setting": Myth(
        r"(--add-config|kafka-configs)[^\n]*num\.partitions",
        "kafka-configs.sh --alter --entity-name __transaction_state --add-config num.partitions=100",
    ),
    "empty a task directory by a glob": Myth(r"rm -rf? [^\n]*/\*", "rm -rf /var/state/app/0_0/*"),
    "clients need access to internal topics": Myth(
        r"([Gg]rant|[Aa]llow)\w*[^.\n]{0,40}\b(All|Write|Read)\b[^.\n]{0,40}__(transaction_state|consumer_offsets)",
        "Grant All on __transaction_state to the application.",
    ),
    "a literal id with a star is a prefix": Myth(
        r"kafka-acls[^\n]*--transactional-id '?[\w.-]+\*(?![^\n]*prefixed)",
        "kafka-acls.sh --add --transactional-id myapp-*",
    ),
    "the interval of exactly-once is 30 s": Myth(
        r"(exactly-once|EOS)[^.\n]{0,40}default[^.\n]{0,20}(30,?000|30 s)", "With EOS the default is 30,000 ms."
    ),
    "the timeout of Streams is 60 s": Myth(
        r"Streams[^.\n]{0,40}transaction[. ]timeout(\.ms)?[^.\n]{0,20}default\w*[^.\n]{0,12}60( s|,?000)",
        "In Streams transaction.timeout.ms defaults to 60,000.",
    ),
    "KAFKA-17507 is fixed in 3.8": Myth(
        r"KAFKA-17507[^.\n]{0,60}(fixed|corrected)[^.\n]{0,12} 3\.[78]", "KAFKA-17507 was fixed in 3.8."
    ),
    "transactions come from KIP-129": Myth(
        r"([Tt]ransactions|[Ii]dempoten\w*)[^.\n]{0,40}KIP-129\b", "Transactions were introduced by KIP-129."
    ),
    "checkpoints have a version for exactly-once": Myth(
        r"checkpoint[^.\n]{0,20} version [12]\b[^.\n]{0,30}(EOS|exactly)", "A checkpoint of version 2 means EOS is off."
    ),
    "acceptable.recovery.lag is a time": Myth(
        r"acceptable\.recovery\.lag[^.\n]{0,40}\b(ms|milliseconds|seconds)\b",
        "acceptable.recovery.lag is given in milliseconds.",
    ),
    "idempotence wants few retries": Myth(r"(?<![\w.])retries ?[=:] ?3\b", "For idempotence set retries=3."),
    "one request in flight is needed": Myth(
        r"(requires?|needs?|must)[^.\n]{0,40}max\.in\.flight\.requests\.per\.connection ?= ?1\b",
        "Idempotence requires max.in.flight.requests.per.connection=1.",
    ),
    "control records are the other way round": Myth(r"\bCOMMIT ?= ?0\b|\bABORT ?= ?1\b", "COMMIT = 0 and ABORT = 1"),
    "settings that never existed": Myth(
        r"\btransactional\.id\.timeout\.ms|\bmax\.transaction\.timeout\.ms|\bInitPidRequest",
        "Set max.transaction.timeout.ms.",
    ),
    "the committed offset is that of the last record": Myth(
        r"OffsetAndMetadata\(\s*\w*[rR]ecord\w*\.offset\(\)\s*\)", "new OffsetAndMetadata(record.offset())"
    ),
    "replicas fall out after 10 s": Myth(
        r"replica\.lag\.time\.max\.ms[^.\n]{0,30}(10 s|10,?000)", "replica.lag.time.max.ms defaults to 10 s."
    ),
    "tools ask ZooKeeper or a list of brokers": Myth(
        r"kafka-[\w-]+\.sh[^\n]*--(zookeeper|broker-list)\b", "kafka-topics.sh --zookeeper localhost:2181 --list"
    ),
    "Java consumers read committed by default": Myth(
        r"isolation\.level[^.\n]{0,20}defaults? (to|is) read_committed(?![^.\n]{0,60}(librdkafka|Connect))",
        "isolation.level defaults to read_committed.",
    ),
    "concurrent transactions need a new epoch": Myth(
        r"CONCURRENT_TRANSACTIONS[^.\n]{0,60}(is fatal|close the producer|new epoch)",
        "CONCURRENT_TRANSACTIONS is fatal: close the producer.",
    ),
    "an expired transaction jumps to its end": Myth(
        r"timeout[^.\n]{0,40}(directly|straight) (to )?CompleteAbort",
        "After the timeout it goes directly to CompleteAbort.",
    ),
    "Admin rights come from AclAuthorizer in 4.x": Myth(
        r"4\.\d[^.\n]{0,40}\bkafka\.security\.authorizer\.AclAuthorizer",
        "On 4.0 set kafka.security.authorizer.AclAuthorizer.",
    ),
}


def repeated(myth: Myth, text: str) -> Iterator[str]:
    """Yield the places of a text that make the claim, and do not warn of it."""
    for found in re.finditer(myth.pattern, text):
        around = text[max(0, found.start() - BEFORE) : found.end() + AFTER]
        if not WARNING.search(around):
            yield found.group()


@pytest.mark.parametrize("myth", MYTHS.values(), ids=MYTHS)
def test_a_planted_claim_is_found_and_a_warning_is_not(myth: Myth) -> None:
    assert list(repeated(myth, f"Some words. {myth.sentence}\nMore words."))
    assert not list(repeated(myth, f"Never do this: {myth.sentence}"))


def test_no_myth_is_repeated() -> None:
    paths = [path for pattern in TEXTS for path in ROOT.glob(pattern)] + [ROOT / "README.md"]
    assert len(paths) > 500
    texts = {path: path.read_text("utf-8") for path in paths if path.name not in CORRECTIONS}
    assert [
        (str(path.relative_to(ROOT)), name, claim)
        for path, text in texts.items()
        for name, myth in MYTHS.items()
        for claim in repeated(myth, text)
    ] == []
