"""A digest of the generated codec's sources, by which a checkout detects an outdated codec."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

from eosctl.wire.schema.table import FOLDER


def source_digest(generator: Path) -> str:
    """Return the SHA-256, in hex, of the message tables and of the generator's code.

    Args:
        generator: The folder of `scripts/generate_wire`.
    """
    digest = sha256()
    for root in (FOLDER, generator):
        for folder, folders, names in os.walk(root):
            folders.sort()
            place = Path(folder)
            for name in sorted(names):
                if name.endswith((".msg", ".py")):
                    content = (place / name).read_bytes()
                    digest.update(f"{place.name}/{name} {len(content)} ".encode())
                    digest.update(content)
    return digest.hexdigest()
