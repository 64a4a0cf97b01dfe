"""Which topics to read, from where to where, and how to reach them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, urlencode

from eosctl.model.period import Period
from eosctl.model.redaction import redact_text

_URL: Final = re.compile(r"kafka:/+(?P<brokers>[^/?]+)/(?P<topics>[^?/]+)(?:\?(?P<query>.*))?")
"""One slash is enough: a ``Path`` keeps no more."""
_TOPIC: Final = re.compile(r"[A-Za-z0-9._-]{1,249}")
_MOMENT: Final = re.compile(r"\d{12,14}|\d{4}-\d\d-\d\d.*")
_JAVA_ONLY: Final = {
    "sasl.jaas.config": "sasl.username and sasl.password",
    "ssl.truststore.location": "ssl.ca.location, a file of certificates in PEM",
    "ssl.truststore.certificates": "ssl.ca.pem",
    "ssl.keystore.type": "ssl.certificate.location and ssl.key.location, or a PKCS#12 ssl.keystore.location",
}
"""Settings of Java's clients, and what librdkafka calls the same."""
BEARER: Final = "sasl.oauthbearer.token"
"""A setting beside librdkafka's: the token itself, for which librdkafka wants a function."""
_DEFAULTS: Final = {"isolation.level": "read_committed", "security.protocol": "PLAINTEXT"}
_OURS: Final = frozenset(
    ["group.id", "enable.auto.commit", "auto.offset.reset", "enable.partition.eof", "enable.auto.offset.store"]
)
"""Settings that reading without a trace decides."""


class TopicError(ValueError):
    """Topics cannot be read as asked; the text says why and what to do, and holds no secret."""


class Bound(NamedTuple):
    """Where reading starts or ends.

    Attributes:
        place: ``earliest`` or ``latest``, where nothing else is told.
        moment_ms: The first record from this time on, ms since the epoch.
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
        brokers: Where to begin, ``host:port`` with commas.
        names: The topics.
        settings: Of librdkafka; they may be secret, so they are not shown.
        start: The first records to read; None where nobody said.
        end: Behind the last records to read, of a batch; None where nobody said.
        leaves_out: Whether start and end were chosen for a period, so that what they leave out is to be told.
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
        """Whether reaching them needs more than their brokers."""
        return not self.settings.items() <= _DEFAULTS.items()


def is_topic_url(path: str | Path) -> bool:
    """Whether somebody named topics instead of a file."""
    return str(path).startswith("kafka:")


def spelt(url: str | Path) -> str:
    """Spell topics as they were named: a path has lost a slash, and settings may be secret."""
    return re.sub("^kafka:/*", "kafka://", str(url)).partition("?")[0]


def parse_topics(url: str | Path) -> Topics:
    """Read ``kafka://HOST:PORT[,HOST:PORT]/TOPIC[,TOPIC][?NAME=VALUE&...]``.

    Names with a dot are settings of librdkafka; ``config`` is a file of them (``read_settings``); ``start`` and ``end``
    are ``earliest``, ``latest``, a time (ISO 8601, or ms since the epoch), or offsets as JSON.

    Raises:
        TopicError: It cannot be understood.
    """
    found = _URL.fullmatch(str(url))
    if found is None:
        raise TopicError(f"{redact_text(spelt(url))} names no topics: kafka://HOST:PORT/TOPIC does.")
    told = dict(parse_qsl(found["query"] or "", keep_blank_values=True))
    settings = read_settings(Path(told.pop("config"))) if "config" in told else {}
    start, end = told.pop("start", None), told.pop("end", None)
    for name in told:
        if "." not in name and name != "debug":
            raise TopicError(
                f"{name!r} is no option of a topic: there are config, start, end, and librdkafka's settings."
            )
    return Topics(
        found["brokers"],
        topic_names(found["topics"]),
        checked_settings({**settings, **told}),
        None if start is None else parse_bound(start),
        None if end is None else parse_bound(end),
    )


def around(topics: Topics, period: Period) -> Topics:
    """Read of topics what can hold events of a period, unless somebody said from where to where.

    What a record says of its time in Kafka is not the time of its event: clocks and zones are apart, and a shipper may
    lag behind. So a day on either side is read, too.
    """
    first, last = period
    if first is not None and topics.start is None:
        topics = replace(topics, start=Bound("latest", moment_ms=first - DAY_MS), leaves_out=True)
    if last is not None and topics.end is None:
        topics = replace(topics, end=Bound("latest", moment_ms=last + DAY_MS), leaves_out=True)
    return topics


def with_settings_in(url: str, file: Path) -> str:
    """Spell topics with all their settings in a file: arguments of a program are there for all to see."""
    told = parse_qsl(url.partition("?")[2], keep_blank_values=True)
    kept = [(name, value) for name, value in told if name in ("start", "end")]
    return f"{spelt(url)}?{urlencode([*kept, ('config', str(file))], safe='/:')}"


def topic_names(text: str) -> tuple[str, ...]:
    """Part names of topics at their commas.

    Raises:
        TopicError: One of them is none.
    """
    names = tuple(name.strip() for name in text.split(","))
    for name in names:
        if not _TOPIC.fullmatch(name):
            raise TopicError(f"{name!r} is no name of a topic: letters, digits, dots, dashes and underlines make one.")
    return names


def parse_bound(text: str) -> Bound:
    """Read where to start or to end.

    Raises:
        TopicError: It cannot be understood.
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
    except (ValueError, TypeError, AttributeError):
        raise TopicError(
            f"{text!r} tells no place in a topic. Write earliest, latest, a time such as 2026-11-21T09:00:00Z, or "
            'offsets: {"logs": {"0": 1200}}.'
        ) from None


def _moment_ms(text: str) -> int:
    if text.isdecimal():
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise TopicError(f"{text!r} is no time. Write it like 2026-11-21T09:00:00Z.") from None
    if moment.tzinfo is None:
        raise TopicError(f"{text} has no zone. Write it like 2026-11-21T09:00:00Z.")
    return int(moment.timestamp() * 1000)


def read_settings(file: Path) -> dict[str, str]:
    """Read a file of librdkafka's settings: ``name=value`` a line, or one JSON object, in which PEM texts find room.

    Raises:
        TopicError: It cannot be read.
    """
    try:
        text = file.read_text("utf-8")
        if text.lstrip().startswith("{"):
            return {str(name): str(value) for name, value in json.loads(text).items()}
    except (OSError, UnicodeDecodeError) as error:
        raise TopicError(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    except ValueError:
        # What the parser says quotes the text, which may be secret.
        raise TopicError(f"{file} cannot be read: it begins like JSON and is none.") from None
    lines = [line.strip() for line in text.splitlines()]
    pairs = [line.partition("=") for line in lines if line and not line.startswith(("#", "!"))]
    return {name.strip(): value.strip() for name, sign, value in pairs if sign}


def checked_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Return librdkafka's settings without those that reading decides by itself.

    Raises:
        TopicError: One of them is of Java's clients.
    """
    for name, instead in _JAVA_ONLY.items():
        if name in settings:
            raise TopicError(f"{name} is a setting of Java's clients. Here it is {instead}.")
    kept = {name: value for name, value in settings.items() if name not in (*_OURS, "bootstrap.servers")}
    return {"isolation.level": "read_committed", **kept}
