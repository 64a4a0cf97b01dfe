"""Each alert leads to what to do about it: its annotations, its section, and the runbook that it names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from eosctl.monitoring.alerts import ALERTS_PAGE, load_alerts, rules_document
from eosctl.runbooks.load import find_runbook
from tests.commands.conftest import eosctl

ROOT = Path(__file__).parents[2]
SECTION = re.compile(r"^## (\w+)$", re.MULTILINE)


def alerts_of(document: Any) -> dict[str, dict[str, str]]:
    (group,) = document["groups"]
    return {rule["alert"]: rule["annotations"] for rule in group["rules"] if "alert" in rule}


def test_every_alert_has_its_section() -> None:
    text = (ROOT / ALERTS_PAGE).read_text("utf-8")
    assert SECTION.findall(text) == [alert.name for alert in load_alerts()]
    sections = dict(zip(SECTION.findall(text), SECTION.split(text)[2::2], strict=True))
    for alert in load_alerts():
        assert alert.description in sections[alert.name]
        assert alert.expression in sections[alert.name]
        assert all(step in sections[alert.name] for step in alert.steps)
    anchors = {name.lower() for name in sections}
    assert set(re.findall(r"\(#(\w+)\)", text)) == anchors


def test_every_alert_has_its_annotations() -> None:
    for name, noted in alerts_of(rules_document()).items():
        assert noted["runbook_url"] == f"{ALERTS_PAGE}#{name.lower()}"
        assert noted["description"] != noted["summary"]
        assert len(noted["description"]) > 60
        assert noted["next"]


@pytest.mark.parametrize("alert", [one for one in load_alerts() if one.runbook], ids=lambda one: one.name)
def test_the_named_runbook_exists(alert: Any) -> None:
    assert find_runbook(alert.runbook).book.id == alert.runbook


@pytest.mark.parametrize(
    ("url", "link"),
    [
        ("https://wiki.example.com/alerts.html", "https://wiki.example.com/alerts.html#eosnocontroller"),
        ("https://wiki.example.com/alerts/", "https://wiki.example.com/alerts/eosnocontroller"),
    ],
)
@pytest.mark.parametrize("target", ["rules", "strimzi"])
def test_the_links_lead_to_the_given_page(target: str, url: str, link: str) -> None:
    done = eosctl("metrics", "export", target, "--runbook-url", url)
    assert done.code == 0, done.err
    *_, document = yaml.safe_load_all(done.out)
    assert alerts_of(document.get("spec", document))["EosNoController"]["runbook_url"] == link


@pytest.mark.parametrize(
    "arguments",
    [
        ("rules", "--runbook-url", "docs/alerts.md"),
        ("rules", "--runbook-url", "https://"),
        ("rules", "--runbook-url", "https://wiki/a#b"),
        ("rules", "--runbook-url", "https://wiki/a b"),
        ("rules", "--runbook-url", "https://alice:secret@wiki/a"),
        ("rules", "--runbook-url", "ftp://alice:secret@wiki/a"),
        ("grafana", "--runbook-url", "https://wiki/a"),
    ],
)
def test_addresses_that_lead_nowhere_are_refused(arguments: tuple[str, ...]) -> None:
    done = eosctl("metrics", "export", *arguments)
    assert (done.code, done.out) == (2, "")
    assert "secret" not in done.err
