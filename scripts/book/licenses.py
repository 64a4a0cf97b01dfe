"""The page of licenses: every direct and transitive dependency of eosctl."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.book.cells import cell, code

ROOT = Path(__file__).resolve().parent.parent.parent
# Packages without license metadata; only an extra installs them.
UNNAMED = {"jmxquery"}


class Dependency(NamedTuple):
    """An installed dependency of eosctl.

    Attributes:
        name: Its name in the package index.
        version: The installed version.
        license: An SPDX expression, or the package's own description.
        extras: The extras of eosctl that install it; empty for the core.
    """

    name: str
    version: str
    license: str
    extras: tuple[str, ...]


def dependencies() -> list[Dependency]:
    """Return the installed dependencies of eosctl, sorted by name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    core = _closure(project["dependencies"])
    brought = {extra: _closure(texts) for extra, texts in project["optional-dependencies"].items() if extra != "dev"}
    found = dict(core)
    for packages in brought.values():
        found |= packages
    return [
        Dependency(
            package.metadata["Name"],
            package.version,
            license_of(package),
            () if name in core else tuple(extra for extra, packages in brought.items() if name in packages),
        )
        for name, package in sorted(found.items())
    ]


def _closure(texts: Iterable[str]) -> dict[str, Distribution]:
    """Return the installed packages of requirements, with their own requirements."""
    found: dict[str, Distribution] = {}
    wanted = [(Requirement(text), "") for text in texts]
    while wanted:
        requirement, of_extra = wanted.pop()
        name = canonicalize_name(requirement.name)
        applies = requirement.marker is None or requirement.marker.evaluate({"extra": of_extra})
        if not applies or name in found:
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            continue
        needs = [Requirement(text) for text in found[name].requires or ()]
        wanted += [(need, each) for need in needs for each in ("", *requirement.extras)]
    return found


def license_of(package: Distribution) -> str:
    """Return a package's license: its SPDX expression, else its classifiers, else a short text."""
    if expressions := package.metadata.get_all("License-Expression"):
        return str(expressions[0])
    classifiers = [
        line.rpartition(" :: ")[2]
        for line in package.metadata.get_all("Classifier") or ()
        if line.startswith("License ::") and not line.endswith("OSI Approved")
    ]
    text = next(iter(package.metadata.get_all("License") or ()), "")
    return ", ".join(classifiers) or (text if 0 < len(text) < 60 and text != "UNKNOWN" else "")


def licenses_page() -> str:
    """Return the page."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Licenses of dependencies\n"
    yield "eosctl itself is published under the Apache License 2.0. What comes with it, as installed when this book was"
    yield "built, with the packages that packages bring themselves; `make dist` writes the same list for machines"
    yield "(CycloneDX). A test refuses a package that names no license, or one that would bind users of eosctl.\n"
    yield "| Package | Version | License | With |\n|---|---|---|---|"
    for name, version, license, extras in dependencies():
        where = ", ".join(f"eosctl[{extra}]" for extra in extras) or "eosctl"
        yield f"| {cell(name)} | {cell(version)} | {cell(license or 'names none')} | {code(where)} |"
