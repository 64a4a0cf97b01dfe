"""The Kafka releases that a scenario holds on, and the same scenario on one of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from msgspec.structs import replace

from eosctl.errors import UsageError
from eosctl.lab.scenarios.script import Script
from eosctl.model.emulation import FULL_RELEASE

_RANGE: Final = re.compile(r"(\d+(?:\.\d+)+)(?:(\+)|-(\d+(?:\.\d+)+))?")


class ReleaseRange(NamedTuple):
    """Releases from `first` to `last`, both included with all their patches; None for no end."""

    first: tuple[int, ...]
    last: tuple[int, ...] | None

    def covers(self, release: str) -> bool:
        """Return whether a full release, e.g. `4.0.2`, is in the range."""
        version = _version(release)
        starts = version[: len(self.first)] >= self.first
        return starts and (self.last is None or version[: len(self.last)] <= self.last)


def parse_range(text: str) -> ReleaseRange:
    """Parse `4.3` (a branch or a patch), `3.3-3.9`, or `4.0+`.

    Raises:
        UsageError: The text is none of these.
    """
    found = _RANGE.fullmatch(text)
    if found is None:
        raise UsageError(f"{text!r} is not a range of releases.", "", "Write one as 4.3, 3.3-3.9, or 4.0+.")
    first, is_open, last = found.groups()
    return ReleaseRange(_version(first), None if is_open else _version(last or first))


def settle(script: Script, releases: Mapping[str, str] = FULL_RELEASE, wanted: str | None = None) -> Script:
    """Return a scenario as it is on one release: with its steps only, and with that release as the cluster's.

    Args:
        script: The scenario.
        releases: The full releases that the cluster can have by the names that users give them, the oldest first.
        wanted: One of the names or full releases; None for the newest that the scenario holds on.

    Raises:
        UsageError: The scenario does not hold on the release, or on any.
    """
    covered = parse_range(script.cluster.release)
    named = [full for name, full in releases.items() if wanted in (None, name, full)]
    if not named:
        raise UsageError(
            f"This cluster cannot be {wanted}.",
            f"It can be {', '.join(releases)}.",
            "Choose one of them; --engine apache runs other releases than the sandbox.",
        )
    fitting = [release for release in named if covered.covers(release)]
    if not fitting:
        raise UsageError(
            f"The scenario {script.name} does not hold on {' or '.join(named)}.",
            f"It is for {script.cluster.release}.",
            "Choose another release (--kafka-version), or another engine.",
        )
    release = fitting[-1]
    steps = tuple(
        {key: value for key, value in step.items() if key != "releases"}
        for step in script.steps
        if "releases" not in step or parse_range(str(step["releases"])).covers(release)
    )
    return replace(script, cluster=replace(script.cluster, release=release), steps=steps)


def newest_covered(text: str, releases: Mapping[str, str]) -> str:
    """Return the name of the newest release in a range.

    Raises:
        UsageError: None of the releases is in the range.
    """
    covered = parse_range(text)
    fitting = [name for name, full in releases.items() if covered.covers(full)]
    if not fitting:
        raise UsageError(f"This cluster cannot be {text}.", f"It can be {', '.join(releases)}.", "Choose one of them.")
    return fitting[-1]


def _version(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))
