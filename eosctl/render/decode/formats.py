"""What the options of `eosctl decode` accept."""

from __future__ import annotations

from enum import StrEnum


class DecodeFormat(StrEnum):
    """What `--output` accepts for decoders: each writes a line as soon as it is known."""

    TABLE = "table"
    JSON = "json"
    TSV = "tsv"
    KAFKA = "kafka"


class BytesForm(StrEnum):
    """What `--keys` and `--values` accept."""

    UTF8 = "utf8"
    HEX = "hex"
    JSON = "json"
    BASE64 = "base64"
    NONE = "none"


class KafkaDialect(StrEnum):
    """Whose text `--output kafka` prints."""

    KAFKA_3_9 = "3.9"
    KAFKA_4_3 = "4.3"
