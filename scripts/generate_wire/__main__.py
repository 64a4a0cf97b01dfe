"""Write the generated code; with `--check`, only report whether it is up to date."""

from __future__ import annotations

import sys

from eosctl.wire.schema.table import TableError
from scripts.generate_wire.files import stale_files, write_files
from scripts.generate_wire.modules import generate


def main() -> int:
    """Write or check the code."""
    if "--check" in sys.argv[1:]:
        stale = stale_files(generate())
        for name in stale:
            print(f"stale: eosctl/wire/{name}", file=sys.stderr)
        return 1 if stale else 0
    try:
        written = write_files()
    except TableError as error:
        print(error, file=sys.stderr)
        return 1
    if written:
        print(f"Generated the wire codec from eosctl/wire/schema: {len(written)} files changed.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
