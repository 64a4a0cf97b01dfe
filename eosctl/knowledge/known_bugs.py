"""Load the known bugs that are shipped with eosctl (``knowledge/bugs.yaml``)."""

from __future__ import annotations

from functools import cache
from importlib import resources

from eosctl.knowledge.small_files import load_yaml
from eosctl.model.known_bug import KnownBug, Product, parse_version
from eosctl.model.severity import Severity


@cache
def load_known_bugs() -> tuple[KnownBug, ...]:
    """Return every known bug, in the file's order."""
    text = (resources.files("eosctl.knowledge") / "bugs.yaml").read_text(encoding="utf-8")
    return tuple(
        KnownBug(
            id=body["id"],
            product=Product(body["component"]),
            severity=Severity(body["severity"]),
            since=parse_version(body["since"]),
            fixed=tuple(parse_version(fix) for fix in body["fixed"]),
            symptom=body["symptom"],
            workaround=body["workaround"],
        )
        for body in load_yaml(text)["bugs"]
    )
