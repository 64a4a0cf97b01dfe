"""Which spellings of a setting reach the clients of a flow: as MirrorMaker's own classes have answered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eosctl.analysis.mirror_flows import LEVEL, Flow, flows_of, mirrors, without_effect
from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import Deployment
from eosctl.settings.deployment.deployment_files import read_components

RECORDED = Path(__file__).parents[1] / "fixtures" / "configs" / "mirror-spellings.json"
"""What tests/apache/MirrorSpellings.java printed with the jars of each release; all releases agree."""
ANSWERS = json.loads(RECORDED.read_text("utf-8"))["answers"]
DEDICATED = "clusters=east, west\neast.bootstrap.servers=e:1\nwest.bootstrap.servers=w:1\neast->west.enabled=true\n"
CONNECTOR = (
    "name=m\nconnector.class=org.apache.kafka.connect.mirror.MirrorSourceConnector\n"
    "source.cluster.alias=east\ntarget.cluster.alias=west\n"
)


def flow_of(text: str) -> Flow:
    (mirror,) = mirrors(Deployment(tuple(read_components("mm2.properties", text)), load_tables()))
    (flow,) = flows_of(mirror)
    return flow


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: f"{answer['kind']} {answer['given']}")
def test_a_spelling_reaches_what_it_reaches_in_kafka(answer: dict[str, str]) -> None:
    head = CONNECTOR if answer["kind"] == "connector" else DEDICATED
    flow = flow_of(head + answer["given"].replace("|", "\n") + "\n")
    value = flow.support() if answer["kind"] == "support" else flow.source_consumer(LEVEL)
    assert (value.word if value else None) == answer["answer"]
    if answer["kind"] != "support" and "|" not in answer["given"]:
        dropped = [one.key for one in without_effect(flow.mirror)]
        assert dropped == ([] if answer["answer"] else [answer["given"].partition("=")[0]])


def test_the_spelling_that_is_advised_reaches_the_consumer() -> None:
    for head in (DEDICATED, CONNECTOR):
        key = flow_of(head).advised_key(LEVEL)
        assert flow_of(f"{head}{key}=read_committed\n").source_consumer(LEVEL) is not None
    assert flow_of(DEDICATED).advised_key(LEVEL) == "east.consumer.isolation.level"


def test_a_cluster_may_be_called_source() -> None:
    text = "clusters=source,target\nsource->target.enabled=true\nsource.consumer.isolation.level=read_committed\n"
    assert without_effect(flow_of(text).mirror) == ()


def test_disabled_flows_are_not_flows() -> None:
    text = f"{DEDICATED}west->east.enabled=false\nwest.consumer.isolation.level=read_committed\n"
    flow = flow_of(text)
    assert (flow.source, flow.target) == ("east", "west")
    assert [value.key for value in without_effect(flow.mirror)] == ["west.consumer.isolation.level"]
