"""Absorb releases of Kafka: fetch their jars, and write what they declare into the tables of the product.

    make absorb KAFKA=4.4.0
    python -m scripts.absorb [--afresh] RELEASE...

Prints what differs from the release before, and what needs a person's judgment. `--afresh` removes the tables first:
name every release then, the oldest first. Java 17 is needed, and Maven for what the cache does not have.
"""

from __future__ import annotations

import sys

from scripts.absorb import tables
from scripts.absorb.difference import render_difference
from scripts.absorb.jars import AbsorbError, fetch
from scripts.absorb.judgment import render_judgment
from scripts.absorb.previous import previous_release
from scripts.absorb.release import Absorbed, read_release
from scripts.parameter_tables.history import release_numbers

SANDBOX_RELEASES = frozenset({"3.9", "4.3", "4.4"})


def main(arguments: list[str]) -> int:
    """Absorb, and return the exit status."""
    releases = [argument for argument in arguments if not argument.startswith("-")]
    if not releases:
        print(__doc__, file=sys.stderr)
        return 2
    if "--afresh" in arguments:
        tables.remove_tables()
    for release in sorted(releases, key=release_numbers):
        try:
            found = read_release(release, fetch(release))
            before = previous_release(found.label)
            old = read_release(before, fetch(before)) if before else None
        except AbsorbError as error:
            print(error, file=sys.stderr)
            return 1
        _write(found)
        if old is not None:
            print(render_difference(old, found))
            print(render_judgment(old, found))
    return 0


def _write(found: Absorbed) -> None:
    tables.write_settings(found)
    tables.write_update_modes(found)
    tables.write_protocol(found)
    if found.label in SANDBOX_RELEASES:
        tables.write_sandbox(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
