"""Hold every text of the project to the words of `rules.toml`.

Each package has a ceiling, `ceilings.toml`: how many refused words it may still have. A ceiling only falls, and a
package that is not listed has none left. While files move, packages share the sum of their ceilings.

    python -m scripts.prose                 the packages over their ceilings, with each place
    python -m scripts.prose PATH...         every place below these paths
    python -m scripts.prose --lower         lower the ceilings to what is left
"""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections import Counter
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

from scripts.prose.texts import texts_of

ROOT: Final = Path(__file__).resolve().parents[2]
_FOLDER: Final = "scripts/prose"
CEILINGS: Final = f"{_FOLDER}/ceilings.toml"
#: Generated from sources that are read themselves, recorded from other programs, or the words of the rules.
NOT_READ: Final = (
    *("docs/api.md", "docs/checks/", "docs/logs/categories/", "docs/logs/index.md", "docs/reference/findings.md"),
    *("docs/schemas/", "eosctl/wire/generated/", "eosctl/wire/messages/", "tests/fixtures/", "LICENSE", f"{_FOLDER}/"),
)


class Rule(NamedTuple):
    """Words that no text may have, and what to write instead."""

    pattern: re.Pattern[str]
    use: str


class Place(NamedTuple):
    """Where a text has refused words."""

    path: str
    line: int
    words: str
    use: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {' '.join(self.words.split())!r}; use: {self.use}"


def rules() -> list[Rule]:
    """Return the rules in their order."""
    listed = tomllib.loads((ROOT / _FOLDER / "rules.toml").read_text("utf-8"))["rule"]
    patterns = [re.sub(r"(?<!\\) ", r"\\s+", rule["pattern"]) for rule in listed]
    return [
        Rule(re.compile(pattern, re.IGNORECASE), rule["use"]) for pattern, rule in zip(patterns, listed, strict=True)
    ]


def allowed() -> dict[str, list[str]]:
    """Return the texts that are right although they have a refused word, by path or pattern of paths."""
    found: dict[str, list[str]] = {}
    for one in tomllib.loads((ROOT / _FOLDER / "allowed.toml").read_text("utf-8")).get("allow", []):
        found.setdefault(one["path"], []).append(one["text"])
    return found


def files_read(root: Path = ROOT) -> list[str]:
    """Return the files that are read: what git tracks or would, and `NOT_READ` does not name."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.splitlines()
    return sorted({name for name in listed if not name.startswith(NOT_READ) and (root / name).is_file()})


def places(names: list[str], root: Path = ROOT) -> list[Place]:
    """Return every place in these files that a rule refuses and no exception allows."""
    wanted, exceptions, found = rules(), allowed(), []

    @cache  # Most texts are names, which return in many files.
    def refused(text: str) -> list[tuple[int, str, str]]:
        matches = ((match, rule.use) for rule in wanted for match in rule.pattern.finditer(text))
        return [(text.count("\n", 0, match.start()), match[0], use) for match, use in matches]

    for name in names:
        excepted = [one for path, texts in exceptions.items() if fnmatchcase(name, path) for one in texts]
        for start, text in texts_of(root / name, literals=not name.startswith("tests/")):
            for exception in excepted:
                text = text.replace(exception, " " * len(exception))
            found += [Place(name, start + lines, words, use) for lines, words, use in refused(text)]
    return found


def package_of(name: str) -> str:
    """Return the package that a file counts for: of the product the second level, of everything else the first."""
    parts = PurePosixPath(name).parts
    return "/".join(parts[: 2 if parts[0] in ("eosctl", "docs", "tests") and len(parts) > 2 else 1])


def ceilings() -> dict[str, int]:
    """Return how many refused words each package may still have."""
    return dict(tomllib.loads((ROOT / CEILINGS).read_text("utf-8"))["ceilings"])


def over(found: list[Place], most: dict[str, int]) -> dict[str, tuple[int, int]]:
    """Return the packages with more refused words than their ceiling: how many there are, and the ceiling.

    Files move between packages: while all packages together stay below the sum, only those without a ceiling count.
    """
    counts = Counter(package_of(place.path) for place in found)
    exceeded = {name: (count, most.get(name, 0)) for name, count in counts.items() if count > most.get(name, 0)}
    moved = sum(counts.values()) <= sum(most.values())
    return {name: pair for name, pair in exceeded.items() if not (moved and name in most)}


def lowered(found: list[Place], most: dict[str, int]) -> str:
    """Return the text of `ceilings.toml` for what is left; the sum of the ceilings never rises."""
    counts = Counter(package_of(place.path) for place in found)
    fits = sum(counts.values()) <= sum(most.values())
    left = {name: counts[name] if fits else min(counts[name], most[name]) for name in most if counts[name]}
    head = "# How many refused words a package may still have; the sum only falls (python -m scripts.prose --lower).\n"
    return f"{head}\n[ceilings]\n" + "".join(f'"{name}" = {left[name]}\n' for name in sorted(left))
