"""Print the lowest version of each requirement that pyproject.toml allows, as constraints for pip.

    python -m scripts.release.lowest > constraints.txt

Requirements of what users install are held down, in the core and in every extra but `dev`; what they need themselves,
and the tools of developers, come as new as pip finds them. `make test-lowest` installs and tests the result; `make
test` runs with the newest versions, so both ends of each range are tried.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent.parent


def requirements(project: dict[str, Any]) -> Iterator[Requirement]:
    """Yield the requirements of users: those of the core and of each extra except the developers'."""
    texts = [*project["dependencies"]]
    for extra, of_extra in project["optional-dependencies"].items():
        texts += [] if extra == "dev" else of_extra
    yield from map(Requirement, texts)


def lowest_constraints(wanted: Iterable[Requirement]) -> list[str]:
    """Return `name==version` for each requirement.

    Raises:
        ValueError: A requirement has no lower bound.
    """
    found = set()
    for requirement in wanted:
        bounds = [bound.version for bound in requirement.specifier if bound.operator in (">=", "==", "~=")]
        if len(bounds) != 1:
            raise ValueError(f"{requirement} has no lower bound")
        found.add(f"{requirement.name}=={bounds[0]}")
    return sorted(found)


def main() -> int:
    """Print the constraints of this project."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    sys.stdout.write("\n".join(lowest_constraints(requirements(project))) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
