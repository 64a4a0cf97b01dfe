"""``python -m scripts.prose``; see `scripts.prose.check`."""

from __future__ import annotations

import sys

from scripts.prose.check import CEILINGS, ROOT, ceilings, files_read, lowered, over, package_of, places


def main(arguments: list[str]) -> int:
    """Report refused words and return the exit code: 1 when a package is over its ceiling, or a named path has any."""
    paths = tuple(argument for argument in arguments if not argument.startswith("-"))
    found = places([name for name in files_read() if name.startswith(paths or "")])
    if "--lower" in arguments:
        (ROOT / CEILINGS).write_text(lowered(found, ceilings()), "utf-8")
        return 0
    if paths:
        print(*found, f"{len(found)} refused words", sep="\n")
        return 1 if found else 0
    exceeded = over(found, ceilings())
    for name, (count, most) in sorted(exceeded.items()):
        print(*(place for place in found if package_of(place.path) == name), sep="\n")
        print(f"{name}: {count} refused words, {most} allowed")
    return 1 if exceeded else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
