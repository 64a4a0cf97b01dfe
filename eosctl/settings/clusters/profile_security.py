"""TLS and SASL for a vetted configuration: the settings of its client or broker, in the format of its file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from enum import StrEnum
from importlib import resources
from typing import Final

from eosctl.settings.clusters.vetted_profiles import VettedProfile

PLACE: Final = "  kafka:\n"
"""The line of a Spring file below which settings for all of Kafka's clients stand."""


class Security(StrEnum):
    """How clients and brokers recognize each other."""

    TLS = "tls"
    MTLS = "mtls"
    SASL_SCRAM = "sasl-scram"
    SASL_OAUTH = "sasl-oauth"


# Connect hands what has a prefix to its tasks' clients, MirrorMaker to those of a cluster.
_PREFIXES: Final[Mapping[str, tuple[str, ...]]] = {
    "connect-worker-eos-source": ("", "producer.", "consumer.", "admin."),
    "mirrormaker2-eos": ("source.", "target."),
    "flink-exactly-once-sink": ("properties.",),
}


def secured(profile: VettedProfile, security: Security) -> str:
    """Return the text of a profile with the settings of a kind of security.

    Secrets and files are placeholders, as the profile's own names are.
    """
    lines = _lines(profile, security)
    if profile.file.endswith(".json"):
        settings = dict(_pairs(lines))
        return json.dumps({**json.loads(profile.text), **settings}, indent=2) + "\n"
    if profile.file.endswith(".properties"):
        first, *more = _PREFIXES.get(profile.name, ("",))
        added = [_prefixed(line, first) for line in lines]
        added += [_prefixed(line, prefix) for prefix in more for line in lines if not line.startswith("#")]
        return f"{profile.text.rstrip()}\n\n" + "\n".join(added) + "\n"
    if PLACE in profile.text:
        block = "".join(f"      {line}\n" for line in _as_yaml(lines, ""))
        return profile.text.replace(PLACE, f"{PLACE}    properties:\n{block}", 1)
    (prefix,) = _PREFIXES[profile.name]
    return f"{profile.text.rstrip()}\n" + "".join(f"{line}\n" for line in _as_yaml(lines, prefix))


def _lines(profile: VettedProfile, security: Security) -> list[str]:
    kind = profile.name.partition("-")[0]
    own = kind if kind in ("broker", "librdkafka") else "client"
    file = resources.files("config_profiles.security") / f"{own}-{security.value}.properties"
    return file.read_text(encoding="utf-8").splitlines()


def _prefixed(line: str, prefix: str) -> str:
    return line if line.startswith("#") else f"{prefix}{line}"


def _pairs(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        if not line.startswith("#"):
            name, _, value = line.partition("=")
            yield name, value


def _as_yaml(lines: list[str], prefix: str) -> Iterator[str]:
    for line in lines:
        name, _, value = line.partition("=")
        yield line if line.startswith("#") else f"{prefix}{name}: {json.dumps(value)}"
