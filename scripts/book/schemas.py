"""The index of JSON Schemas, with the commands that print them."""

from __future__ import annotations

from eosctl.render.schemas import SHAPES
from eosctl.services.about import FILE_SCHEMAS


def schema_index() -> str:
    """Return the page."""
    printed = {name: by for name, (_, by) in SHAPES.items()} | {name: file.files for name, file in FILE_SCHEMAS.items()}
    lines = [
        "# Schemas of results",
        "",
        "What `-o json` and `-o yaml` print is an envelope with `schema`, `schema_version`, the command, the time, and",
        "`items`. `eosctl schema NAME` prints the JSON Schema; all are in `docs/schemas` of the repository. Within a",
        "schema version fields are only added.",
        "",
        "| Name | Printed by |",
        "|---|---|",
        *(f"| `{name}` | `eosctl {by}` |" for name, by in sorted(printed.items())),
    ]
    return "\n".join(lines) + "\n"
