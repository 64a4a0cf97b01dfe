"""Values in the words of client libraries: sarama's ``WaitForAll``, .NET's ``ReadCommitted``, KafkaJS's ``-1``.

Sources: sarama ``RequiredAcks``, kafka-go ``RequiredAcks``, franz-go ``kgo.Acks`` and ``DisableIdempotentWrite``,
KafkaJS ``ProducerRecord.acks``, Confluent.Kafka ``Acks`` and ``IsolationLevel``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from eosctl.model.parameter import relaxed
from eosctl.settings.formats.tree import Leaf

DISABLES: Final = "disableidempotentwrite"
"""franz-go's option, which says the opposite of Kafka's."""
_OPPOSITE: Final = {"true": "false", "false": "true"}
_READS_ALL: Final = {"true": "read_uncommitted", "false": "read_committed"}
_ENUMERATIONS: Final = {
    "acks": {"none": "0", "leader": "1", "all": "all"},
    "isolation.level": {
        "readuncommitted": "read_uncommitted",
        "readcommitted": "read_committed",
        "0": "read_uncommitted",
        "1": "read_committed",
    },
    "security.protocol": {"saslplaintext": "sasl_plaintext", "saslssl": "sasl_ssl"},
    "partition.assignment.strategy": {"roundrobin": "roundrobin", "cooperativesticky": "cooperative-sticky"},
}
_ACKS: Final = (
    {"NoResponse": "0", "WaitForLocal": "1", "WaitForAll": "all"},
    {"RequireNone": "0", "RequireOne": "1", "RequireAll": "all"},
    {"NoAck": "0", "LeaderAck": "1", "AllISRAcks": "all"},
    {"None": "0", "Leader": "1", "All": "all"},
    {"none": "0", "one": "1", "all": "all"},
)
"""What a producer waits for, by library."""
_NUMBERED: Final = {"-1": "all"}
_CODECS: Final = {"0": "none", "1": "gzip", "2": "snappy", "3": "lz4", "4": "zstd"}
"""sarama's ``CompressionCodec``, which Telegraf takes as a number."""
_LEVELS: Final = {"ReadUncommitted": "read_uncommitted", "ReadCommitted": "read_committed"}
_LIBRARY_ACKS: Final = {word.lower(): meant for words in reversed(_ACKS) for word, meant in words.items()}
_GO_DURATION: Final = re.compile(r"(\d+)(ms|s|m|h)")
_MILLISECONDS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}


def as_kafka_writes(name: str, key: str, leaf: Leaf, *, by_library: bool, is_library_name: bool) -> Leaf:
    """Return a value of a library's enumeration or duration as Kafka's clients take it; others as they are.

    Args:
        name: Kafka's name for the setting.
        key: The last part of its key in the file.
        leaf: The value in the file.
        by_library: Whether a library of its own reads the file.
        is_library_name: Whether the key is one that only such libraries have.
    """
    word = (leaf.text or "").strip()
    duration = _GO_DURATION.fullmatch(word) if name.endswith(".ms") else None
    if duration is not None:
        return replace(leaf, text=str(int(duration[1]) * _MILLISECONDS[duration[2]]))
    letters = relaxed(key)
    if name.startswith("compression.") and letters == "compressioncodec" and word in _CODECS:
        return replace(leaf, text=_CODECS[word], words=turned(_CODECS))
    if letters == DISABLES:
        return replace(leaf, text=_OPPOSITE.get(word.lower(), leaf.text), words=turned(_OPPOSITE))
    words = _own_words(name, letters) if is_library_name else {}
    if key[:1].isupper() or by_library:
        words = {**words, **_ENUMERATIONS.get(name, {})}
    text = words.get(word.lower(), words.get(relaxed(word), leaf.text))
    return replace(leaf, text=text, words=_words_of_file(name, letters, word, by_library=by_library))


def turned(words: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return pairs of a word of Kafka's and the word that stands for it.

    >>> turned({"-1": "all"})
    (('all', '-1'),)
    """
    return tuple((meant, word) for word, meant in words.items())


def _own_words(name: str, letters: str) -> dict[str, str]:
    if name == "acks":
        return dict(_LIBRARY_ACKS)
    return dict(_READS_ALL) if name == "isolation.level" and letters == "readuncommitted" else {}


def _words_of_file(name: str, letters: str, word: str, *, by_library: bool) -> tuple[tuple[str, str], ...]:
    """Return the words of the enumeration that a file's word belongs to."""
    if letters == "readuncommitted":
        return turned(_READS_ALL)
    if name == "acks":
        found = next((words for words in _ACKS if word in words), {})
        found = found or next(
            (_in_style_of(word, words) for words in _ACKS if relaxed(word) in map(relaxed, words)), {}
        )
        return turned(found or (_NUMBERED if by_library and word in ("0", "1") else {}))
    return turned(_LEVELS) if name == "isolation.level" and word in _LEVELS else ()


def _in_style_of(word: str, words: Mapping[str, str]) -> dict[str, str]:
    """Return a library's words as a file joins them: ``wait_for_all`` next to ``wait_for_local``."""
    joint = next((letter for letter in "_-" if letter in word), "")
    spelled = (joint.join(re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+", name)) for name in words)
    return {(one.lower() if word.islower() else one): meant for one, meant in zip(spelled, words.values(), strict=True)}
