"""Write the generated reference pages to docs/reference; run by `make book`."""

from __future__ import annotations

import shutil
from pathlib import Path

from scripts.book.commands import command_pages
from scripts.book.licenses import licenses_page
from scripts.book.messages import messages_page
from scripts.book.metrics import metrics_page
from scripts.book.numbers import numbers_page
from scripts.book.runbooks import runbook_pages
from scripts.book.schemas import schema_index
from scripts.book.terms import term_pages

REFERENCE = Path(__file__).resolve().parent.parent.parent / "docs" / "reference" / "generated"


def main() -> None:
    """Replace all generated pages."""
    pages = {
        "licenses": licenses_page(),
        "messages": messages_page(),
        "metrics": metrics_page(),
        "numbers": numbers_page(),
        "schemas": schema_index(),
    }
    pages |= {f"terms/{name}": text for name, text in term_pages().items()}
    pages |= {f"commands/{name}": text for name, text in command_pages().items()}
    pages |= {f"runbooks/{name}": text for name, text in runbook_pages().items()}
    shutil.rmtree(REFERENCE, ignore_errors=True)
    for name, text in pages.items():
        path = REFERENCE / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
