"""Complete the list of parts of a wheel (SBOM, CycloneDX) with what it is a list for: the version and the digest.

    python -m scripts.release.parts WHEEL LIST.json

The tool that writes the list reads eosctl's own entry in pyproject.toml, which leaves the version to the build.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

from packaging.utils import parse_wheel_filename


def complete_parts(text: str, wheel: Path) -> str:
    """Return a list of parts whose own component has the version, package address, and digest of a wheel.

    Raises:
        ValueError: The list is for something else than the wheel.
    """
    document = json.loads(text)
    name, version, _, _ = parse_wheel_filename(wheel.name)
    component = document["metadata"]["component"]
    if component["name"] != name:
        raise ValueError(f"The list is for {component['name']}, the wheel is {wheel.name}.")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    component |= {
        "version": str(version),
        "purl": f"pkg:pypi/{name}@{version}",
        "hashes": [{"alg": "SHA-256", "content": digest}],
    }
    return json.dumps(document, indent=2) + "\n"


def main() -> int:
    """Complete the list in place."""
    wheel, listed = map(Path, sys.argv[1:3])
    listed.write_text(complete_parts(listed.read_text("utf-8"), wheel), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
