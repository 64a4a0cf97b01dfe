"""The index of JSON Schemas, with the commands that print them."""

from __future__ import annotations

from eosctl.render.schemas import SHAPES


def schema_index() -> str:
    """Return the page."""
    lines = [
        "# Schemas of results",
        "",
        "What `-o json` and `-o yaml` print is an envelope with `schema`, `schema_version`, the command, the time, and",
        "`items`. `eosctl schema NAME` prints the JSON Schema; all are in `docs/schemas` of the repository. Within a",
        "schema version fields are only added.",
        "",
        "| Name | Printed by |",
        "|---|---|",
        *(f"| `{name}` | `eosctl {by}` |" for name, (_, by) in sorted(SHAPES.items())),
    ]
    return "\n".join(lines) + "\n"
