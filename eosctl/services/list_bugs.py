"""List the known bugs of releases, or show one by its id."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from eosctl.errors import UsageError, unknown_name
from eosctl.knowledge.known_bugs import load_known_bugs
from eosctl.knowledge.reference.index import explained_elsewhere
from eosctl.knowledge.releases import branch_text, is_newer_than_known, is_possible_release, newest_releases
from eosctl.model.known_bug import KnownBug, Product, Version, parse_version, version_text

_ID: Final = re.compile(r"(?i)(?:kafka|flink|librdkafka)[-# ]*\d[\d.]*")
_BY_KAFKA: Final = frozenset({Product.BROKER, Product.CLIENT, Product.STREAMS, Product.CONNECT})


class ListedBug(NamedTuple):
    """A bug, and the release it was looked up for; None without one."""

    bug: KnownBug
    version: Version | None


class ListedBugs(NamedTuple):
    """Known bugs.

    Attributes:
        bugs: The bugs, in the order of the data.
        remarks: What limits the list, in sentences.
    """

    bugs: tuple[ListedBug, ...]
    remarks: tuple[str, ...] = ()


def is_bug_id(text: str) -> bool:
    """Return whether a text is the id of an issue, not a release."""
    return _ID.fullmatch(text.strip()) is not None


def find_bug(text: str) -> ListedBugs:
    """Return the bug with an id, in any case.

    Raises:
        UsageError: No known bug has it.
    """
    wanted = re.sub(r"[-# ]+", "-", text.strip()).lower()
    found = tuple(ListedBug(bug, None) for bug in load_known_bugs() if bug.id.lower() == wanted)
    if not found:
        listing = f"List them: eosctl bugs{explained_elsewhere(text)}"
        raise unknown_name("known bug", text, (bug.id for bug in load_known_bugs()), listing)
    return ListedBugs(found)


def bugs_of(releases: Mapping[Product, str]) -> ListedBugs:
    """Return the bugs that releases have; all that are known without a release.

    Raises:
        UsageError: A text is not a version, or Kafka has no such release.
    """
    if not releases:
        return ListedBugs(tuple(ListedBug(bug, None) for bug in load_known_bugs()))
    versions = {product: _release(product, text) for product, text in releases.items()}
    remarks = dict.fromkeys(
        f"{version_text(version)} is newer than the releases that this eosctl knows (up to {version_text(newest)}): "
        "its fixes and its new bugs are not in this list."
        for product, version in versions.items()
        if _is_newer(product, version, newest := newest_releases()[product])
    )
    found = (
        ListedBug(bug, versions[bug.product])
        for bug in load_known_bugs()
        if bug.product in versions and bug.affects(versions[bug.product])
    )
    return ListedBugs(tuple(found), tuple(remarks))


def _is_newer(product: Product, version: Version, newest: Version) -> bool:
    if product in _BY_KAFKA:
        return is_newer_than_known(version)
    return version[:2] > newest[:2] if product is Product.LIBRDKAFKA else version > newest


def _release(product: Product, text: str) -> Version:
    try:
        version = parse_version(text)
    except ValueError as error:
        raise UsageError(
            f"{text!r} is not a version.", "", "Write it as 3.7.1, or name a bug as KAFKA-17507."
        ) from error
    if product in _BY_KAFKA and not is_possible_release(version):
        raise UsageError(
            f"Kafka has no release {version_text(version)}.",
            f"Known releases near it: {branch_text(version)}.",
            "Check the number.",
        )
    return version
