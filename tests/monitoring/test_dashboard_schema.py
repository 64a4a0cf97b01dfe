"""The dashboard is one of Grafana: its own models (generated from its schema) read it and write it back whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

from eosctl.monitoring.dashboard import dashboard_document


def lost(written: Any, given: Any, path: str = "") -> Iterator[str]:
    """Yield what of a document is not in what was written back."""
    if isinstance(given, dict) and isinstance(written, dict):
        for key, value in given.items():
            yield from lost(written.get(key), value, f"{path}/{key}")
    elif isinstance(given, list) and isinstance(written, list) and len(given) == len(written):
        for number, (one, other) in enumerate(zip(written, given, strict=True)):
            yield from lost(one, other, f"{path}/{number}")
    elif written != given:
        yield path


def through_grafana(document: dict[str, Any]) -> Any:
    register_default_plugins()
    return json.loads(JSONEncoder().encode(Dashboard.from_json(document)))


def test_grafana_knows_every_field() -> None:
    document = dashboard_document()
    assert len(document["panels"]) > 20
    assert list(lost(through_grafana(document), document)) == []


def test_a_field_that_grafana_does_not_have_is_noticed() -> None:
    document = dashboard_document()
    document["panels"][1]["fieldConfig"]["defaults"]["unitt"] = "ms"
    assert list(lost(through_grafana(document), document)) == ["/panels/1/fieldConfig/defaults/unitt"]
