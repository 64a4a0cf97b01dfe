"""Write the generated pages of the documentation, the catalogs of check ids, and the index of `explain`.

Without arguments, write the files; with `--check`, list the differences and exit with 1 if there are any.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from eosctl.checks.registry import ALL_CHECKS, CATALOG, CONFIGURATION_CHECKS
from eosctl.render.machine import render_json
from eosctl.render.schemas import SHAPES, schema_of, titled
from eosctl.services.about import FILE_SCHEMAS
from eosctl.services.log_categories import log_categories
from scripts.alerts_page import render_alerts_page
from scripts.api_page import render_api
from scripts.category_pages import render_category_index, render_category_page
from scripts.check_pages import catalog_lock, render_check_index, render_check_page
from scripts.event_names import render_event_names
from scripts.findings_page import render_findings_page
from scripts.import_picture import render_picture
from scripts.reference_index.compile import INDEX, index_text
from scripts.schema_fields import lost_fields

ROOT = Path(__file__).resolve().parent.parent
EVENT_NAMES = ROOT / "eosctl" / "model" / "event_names.py"
API = ROOT / "docs" / "api.md"
IMPORTS = ROOT / "docs" / "images" / "imports.svg"
REFERENCE = ROOT / "docs" / "reference"
"""A folder that also contains hand-written pages."""
METRICS = ROOT / "docs" / "metrics"
"""Another one."""
SCHEMAS = ROOT / "docs" / "schemas"


def pages() -> dict[Path, str]:
    """Return the content of every generated file by path."""
    checks = ROOT / "docs" / "checks"
    found = {checks / f"{check.id}.md": render_check_page(check) for check in CATALOG}
    found[checks / "index.md"] = render_check_index(CATALOG)
    found |= {SCHEMAS / f"{name}.json": render_json(schema_of(name)) for name in SHAPES}
    found |= {
        SCHEMAS / f"{name}.json": render_json(titled(name, file.describe())) for name, file in FILE_SCHEMAS.items()
    }
    categories = log_categories()
    logs = ROOT / "docs" / "logs" / "categories"
    found |= {logs / f"{item.id}.md": render_category_page(item) for item in categories}
    found[logs / "index.md"] = render_category_index(categories)
    found[REFERENCE / "findings.md"] = render_findings_page()
    found[METRICS / "alerts.md"] = render_alerts_page()
    locks = ROOT / "eosctl" / "checks"
    found[locks / "catalog.lock"] = catalog_lock(ALL_CHECKS)
    found[locks / "configuration" / "catalog.lock"] = catalog_lock(CONFIGURATION_CHECKS)
    found[API] = render_api()
    found[IMPORTS] = render_picture(ROOT)
    found[INDEX] = index_text()
    found[EVENT_NAMES] = render_event_names()
    return found


def differing() -> list[Path]:
    """Return the generated files that are missing, outdated, or obsolete."""
    wanted = pages()
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    folders = {path.parent for path in wanted if path.suffix in (".md", ".json") and path not in (API, INDEX)} - {
        REFERENCE,
        METRICS,
    }
    left_over = [path for folder in folders if folder.exists() for path in folder.iterdir() if path not in wanted]
    return sorted(stale + left_over)


def _lost_fields(wanted: Mapping[Path, str]) -> Iterator[str]:
    """Name the fields that a committed schema has and its successor of the same version lacks."""
    for path, text in wanted.items():
        if path.parent == SCHEMAS and path.exists():
            for field in lost_fields(path.read_text(encoding="utf-8"), text):
                yield f"{path.name} loses {field}"


def main() -> int:
    """Write or compare the files."""
    if "--check" in sys.argv[1:]:
        found = differing()
        for path in found:
            print(f"differs: {path.relative_to(ROOT)}")
        return 1 if found else 0
    wanted = pages()
    if lost := list(_lost_fields(wanted)):
        print(*lost, "Raise the versions of these schemas: VERSIONS in eosctl/render/envelope.py.", sep="\n")
        return 1
    for path, text in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
