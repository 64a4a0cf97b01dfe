"""A scenario is for a range of releases, and some of its steps for a narrower one."""

from __future__ import annotations

import pytest

from eosctl.errors import ConfigFileError, UsageError
from eosctl.lab.apache.releases import RELEASES, branches
from eosctl.lab.scenarios.load import library, parse_script
from eosctl.lab.scenarios.releases import parse_range, settle
from tests.commands.conftest import eosctl

SCRIPT = """
name: n
title: t
happens: h
matters: m
sees: s
cluster: {{release: {release}}}
steps:
  - {{do: topic, name: orders}}
  - {{do: sees, of: orders, values: [], releases: 4.0+}}
  - {{do: sees, of: orders, values: [a], releases: 3.3-3.9}}
"""


@pytest.mark.parametrize(
    ("text", "covered", "others"),
    [
        ("4.3", ["4.3.0", "4.3.1"], ["4.2.2", "4.4.0"]),
        ("4.3.1", ["4.3.1"], ["4.3.0", "4.3.2"]),
        ("3.3-3.9", ["3.3.0", "3.9.2"], ["3.2.3", "4.0.0"]),
        ("4.0+", ["4.0.0", "4.10.1", "5.0.0"], ["3.9.2"]),
        ("3.9.1-4.0.1", ["3.9.1", "4.0.1"], ["3.9.0", "4.0.2"]),
    ],
)
def test_a_range_has_both_its_ends(text: str, covered: list[str], others: list[str]) -> None:
    found = parse_range(text)
    assert [release for release in covered + others if found.covers(release)] == covered


def test_steps_and_release_follow_the_wanted_release() -> None:
    script = parse_script(SCRIPT.format(release="3.3+"), "n.yaml")
    newest, old = settle(script), settle(script, branches(), "3.5")
    assert (newest.cluster.release, old.cluster.release) == ("4.4.0", "3.5.2")
    assert [step.get("values") for step in newest.steps] == [None, []]
    assert [step.get("values") for step in old.steps] == [None, ["a"]]
    assert settle(script, branches(), "4.0.2").cluster.release == "4.0.2"


def test_a_release_outside_the_range_is_refused() -> None:
    script = parse_script(SCRIPT.format(release="4.0+"), "n.yaml")
    with pytest.raises(UsageError, match=r"does not hold on 3\.9\.2"):
        settle(script, wanted="3.9")
    with pytest.raises(UsageError, match=r"cannot be 4\.0\.2"):
        settle(script, wanted="4.0.2")
    for wrong in ("4.x", "latest", "4.0 to 4.2"):
        with pytest.raises(ConfigFileError, match="not a range of releases"):
            parse_script(SCRIPT.format(release=wrong), "n.yaml")
        with pytest.raises(ConfigFileError, match="not a range of releases"):
            parse_script(SCRIPT.format(release="4.0+").replace("3.3-3.9", wrong), "n.yaml")


def test_the_library_covers_every_release_of_the_lab() -> None:
    for release in RELEASES:
        fitting = [one.name for one in library().values() if parse_range(one.cluster.release).covers(release)]
        assert len(fitting) > 40
        assert {"hanging", "zombie", "happy-path"} <= set(fitting)


def test_the_command_plays_on_the_wanted_release() -> None:
    done = eosctl("sandbox", "scenario", "run", "happy-path", "--kafka-version", "3.9")
    assert (done.code, "sandbox as 3.9" in done.out) == (0, True)
    refused = eosctl("sandbox", "scenario", "run", "kafka-20734", "--kafka-version", "3.9")
    assert (refused.code, "does not hold on 3.9.2" in refused.err) == (2, True)
    unknown = eosctl("sandbox", "scenario", "run", "happy-path", "--kafka-version", "4.0.2")
    assert (unknown.code, "--engine apache" in unknown.err) == (2, True)
    both = eosctl("sandbox", "scenario", "run", "happy-path", "--kafka-version", "3.9", "--name", "x")
    assert both.code == 2
