"""Every exception that explain names is a class of the released clients."""

from __future__ import annotations

import zipfile

from eosctl.knowledge.terms import load_terms
from eosctl.lab.apache.java import prepare_runtime
from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.lab.apache.releases import resolve_release
from eosctl.model.term import TermKind


def test_named_exceptions_exist(apache_4_3: ApacheNodes) -> None:
    # The broker is not asked; its fixture has brought the jars, or skipped with the tool that is missing.
    jars = prepare_runtime(resolve_release("4.3.1")).jars.glob("kafka-clients-*.jar")
    classes = {name for jar in jars for name in zipfile.ZipFile(jar).namelist()}
    named = [alias for term in load_terms() if term.kind is TermKind.EXCEPTION for alias in term.aliases]
    missing = [name for name in named if f"{name.replace('.', '/')}.class" not in classes]
    # Kafka Streams is not among the broker's jars.
    assert [name for name in missing if ".streams." not in name] == []
