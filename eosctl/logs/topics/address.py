"""Parse the addresses of topics: their names, the range to read, and the connection settings."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, urlencode

from eosctl.input_file import read_input
from eosctl.model.period import Period
from eosctl.model.redaction import redact_text

_URL: Final = re.compile(r"kafka:/+(?P<brokers>[^/?]+)/(?P<topics>[^?/]+)(?:\?(?P<query>.*))?")
"""One slash is enough: a ``Path`` keeps only one."""
_TOPIC: Final = re.compile(r"[A-Za-z0-9._-]{1,249}")
_MOMENT: Final = re.compile(r"\d{12,14}|\d{4}-\d\d-\d\d.*")
_JAVA_ONLY: Final = {
    "sasl.jaas.config": "sasl.username and sasl.password",
    "ssl.truststore.location": "ssl.ca.location, a file of certificates in PEM",
    "ssl.truststore.certificates": "ssl.ca.pem",
    "ssl.keystore.type": "ssl.certificate.location and ssl.key.location, or a PKCS#12 ssl.keystore.location",
}
"""Settings of the Java clients, and librdkafka's names for them."""
BEARER: Final = "sasl.oauthbearer.token"
"""A setting in addition to librdkafka's: the token itself, which librdkafka can only get from a function."""
_DEFAULTS: Final = {"isolation.level": "read_committed", "security.protocol": "PLAINTEXT"}
_OURS: Final = frozenset(
    ["group.id", "enable.auto.commit", "auto.offset.reset", "enable.partition.eof", "enable.auto.offset.store"]
)
"""Settings that a reader decides itself, so that it leaves no trace on the cluster."""


class TopicError(ValueError):
    """Topics cannot be read as requested. The text states the reason and the next step, without secrets."""


class Bound(NamedTuple):
    """The start or the end of the range to read.

    Attributes:
        place: ``earliest`` or ``latest``, unless a time or offsets are given.
        moment_ms: The first record at or after this time, ms since the epoch.
        offsets: By topic and partition; -1 is the latest, -2 the earliest.
    """

    place: str
    moment_ms: int | None = None
    offsets: Mapping[str, Mapping[str, int]] | None = None


DAY_MS: Final = 86_400_000
EARLIEST: Final = Bound("earliest")
LATEST: Final = Bound("latest")


@dataclass(frozen=True)
class Topics:
    """Topics of one cluster.

    Attributes:
        brokers: Bootstrap servers, ``host:port`` separated by commas.
        names: The topics.
        settings: Settings of librdkafka; they may be secret, so they are not shown.
        start: The first records to read; None if not specified.
        end: The end of the records to read in a batch; None if not specified.
        leaves_out: Whether start and end were derived from a period, so that records outside of them are reported.
    """

    brokers: str
    names: tuple[str, ...]
    settings: Mapping[str, str] = field(repr=False)
    start: Bound | None = None
    end: Bound | None = None
    leaves_out: bool = False

    def __str__(self) -> str:
        return f"kafka://{self.brokers}/{','.join(self.names)}"

    @property
    def has_settings(self) -> bool:
        """Whether a connection needs more than the brokers' addresses."""
        return not self.settings.items() <= _DEFAULTS.items()


def is_topic_url(path: str | Path) -> bool:
    """Return whether a path is the URL of topics instead of a file."""
    return str(path).startswith("kafka:")


def spelt(url: str | Path) -> str:
    """Return the URL of topics as it was given: a path has lost a slash, and settings may be secret."""
    return re.sub("^kafka:/*", "kafka://", str(url)).partition("?")[0]


def parse_topics(url: str | Path) -> Topics:
    """Read ``kafka://HOST:PORT[,HOST:PORT]/TOPIC[,TOPIC][?NAME=VALUE&...]``.

    Names with a dot are settings of librdkafka; ``config`` is a file of them (``read_settings``); ``start`` and ``end``
    are ``earliest``, ``latest``, a time (ISO 8601, or ms since the epoch), or offsets as JSON.

    Raises:
        TopicError: The URL is invalid.
    """
    found = _URL.fullmatch(str(url))
    if found is None:
        raise TopicError(f"{redact_text(spelt(url))} names no topics: kafka://HOST:PORT/TOPIC does.")
    options = dict(parse_qsl(found["query"] or "", keep_blank_values=True))
    settings = read_settings(Path(options.pop("config"))) if "config" in options else {}
    start, end = options.pop("start", None), options.pop("end", None)
    for name in options:
        if "." not in name and name != "debug":
            raise TopicError(f"Unknown option {name!r} of a topic. Use config, start, end, or a setting of librdkafka.")
    return Topics(
        found["brokers"],
        topic_names(found["topics"]),
        checked_settings({**settings, **options}),
        None if start is None else parse_bound(start),
        None if end is None else parse_bound(end),
    )


def around(topics: Topics, period: Period) -> Topics:
    """Limit topics to records that can contain events of a period, unless their range is specified.

    A record's timestamp in Kafka is not the time of its event: clocks and zones differ, and a shipper may lag behind.
    So a day on either side is read, too.
    """
    first, last = period
    if first is not None and topics.start is None:
        topics = replace(topics, start=Bound("latest", moment_ms=first - DAY_MS), leaves_out=True)
    if last is not None and topics.end is None:
        topics = replace(topics, end=Bound("latest", moment_ms=last + DAY_MS), leaves_out=True)
    return topics


def with_settings_in(url: str, file: Path) -> str:
    """Return the URL of topics with all settings in a file, because other users can see a program's arguments."""
    options = parse_qsl(url.partition("?")[2], keep_blank_values=True)
    kept = [(name, value) for name, value in options if name in ("start", "end")]
    return f"{spelt(url)}?{urlencode([*kept, ('config', str(file))], safe='/:')}"


def topic_names(text: str) -> tuple[str, ...]:
    """Split topic names at the commas.

    Raises:
        TopicError: One of them is not a topic name.
    """
    names = tuple(name.strip() for name in text.split(","))
    for name in names:
        if not _TOPIC.fullmatch(name):
            raise TopicError(f"{name!r} is not a topic name. Use letters, digits, dots, hyphens, and underscores.")
    return names


def parse_bound(text: str) -> Bound:
    """Parse the start or the end of a range.

    Raises:
        TopicError: The text is not a position.
    """
    text = text.strip()
    if text in ("earliest", "latest"):
        return Bound(text)
    if _MOMENT.fullmatch(text):
        return Bound("latest", moment_ms=_moment_ms(text))
    try:
        offsets = json.loads(text)
        return Bound(
            "earliest",
            offsets={topic: {str(int(one)): int(at) for one, at in parts.items()} for topic, parts in offsets.items()},
        )
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise TopicError(
            f"{text!r} is not a position in a topic. Write earliest, latest, a time such as 2026-11-21T09:00:00Z, or "
            'offsets: {"logs": {"0": 1200}}.'
        ) from None


def _moment_ms(text: str) -> int:
    if text.isdecimal():
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise TopicError(f"{text!r} is not a time. Write it like 2026-11-21T09:00:00Z.") from None
    if moment.tzinfo is None:
        raise TopicError(f"{text} has no time zone. Write it like 2026-11-21T09:00:00Z.")
    return int(moment.timestamp() * 1000)


def read_settings(file: Path) -> dict[str, str]:
    """Read a file of librdkafka's settings: ``name=value`` lines, or one JSON object, which can contain PEM texts.

    Raises:
        TopicError: The file cannot be read.
    """
    try:
        text = read_input(file).decode("utf-8")
        if text.lstrip().startswith("{"):
            return {str(name): str(value) for name, value in json.loads(text).items()}
    except (OSError, UnicodeDecodeError) as error:
        raise TopicError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    except (ValueError, RecursionError):
        # The parser's message quotes the text, which may be secret.
        raise TopicError(f"{file} cannot be read: it begins like JSON but is not valid JSON.") from None
    lines = [line.strip() for line in text.splitlines()]
    pairs = [line.partition("=") for line in lines if line and not line.startswith(("#", "!"))]
    return {name.strip(): value.strip() for name, sign, value in pairs if sign}


def checked_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Return librdkafka's settings without those that the reader decides itself.

    Raises:
        TopicError: One of them is a setting of the Java clients.
    """
    for name, instead in _JAVA_ONLY.items():
        if name in settings:
            raise TopicError(f"{name} is a setting of the Java clients. Use {instead}.")
    kept = {name: value for name, value in settings.items() if name not in (*_OURS, "bootstrap.servers")}
    return {"isolation.level": "read_committed", **kept}
