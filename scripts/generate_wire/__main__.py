"""Write the generated code, or with `--check` tell whether it is what the tables say."""

from __future__ import annotations

import sys
from pathlib import Path

from scripts.generate_wire.modules import generate

TARGET = Path(__file__).parents[2] / "eosctl" / "wire" / "messages"


def stale_files() -> list[str]:
    """List the files that differ from what the tables say, missing and surplus ones included."""
    wanted = generate()
    present = {path.relative_to(TARGET).as_posix() for path in TARGET.rglob("*.py")}
    changed = [name for name in wanted if name in present and (TARGET / name).read_text() != wanted[name]]
    return sorted({*changed, *(present ^ set(wanted))})


def write_files() -> int:
    """Write what changed, remove what is surplus; return the number of files touched."""
    wanted = generate()
    stale = stale_files()
    for name in stale:
        path = TARGET / name
        if name in wanted:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted[name])
        else:
            path.unlink()
    return len(stale)


def main() -> int:
    """Write or check."""
    if "--check" in sys.argv[1:]:
        stale = stale_files()
        for name in stale:
            print(f"stale: {name}", file=sys.stderr)
        return 1 if stale else 0
    print(f"{write_files()} files written below {TARGET.name}/")
    return 0


if __name__ == "__main__":
    sys.exit(main())
