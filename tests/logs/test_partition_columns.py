"""The folders of a partitioned archive name columns."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.logs.files.partitions import partitions_of

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
VALUES = st.text(st.characters(codec="utf-8", min_codepoint=1), min_size=1, max_size=12)


@given(st.dictionaries(NAMES, VALUES, max_size=4), st.sampled_from(["/logs", "s3a://bucket/logs", "hdfs://host:1/x"]))
def test_escaped_values_are_read_back(columns: dict[str, str], root: str) -> None:
    folders = [f"{name}={quote(value, safe='')}" for name, value in columns.items()]
    assert partitions_of("/".join([root, *folders, "server.log"])) == columns


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/logs/dt=2026-11-26/server.log", {"dt": "2026-11-26"}),
        ("/logs/dt=1/dt=2/server.log", {"dt": "2"}),
        ("/logs/dt=__HIVE_DEFAULT_PARTITION__/hour=07/server.log", {"hour": "07"}),
        ("/logs/server=1.log", {}),
        ("/logs/dt=/server.log", {}),
        ("/logs/7=x/server.log", {}),
        ("transactions-4", {}),
    ],
)
def test_only_folders_with_a_name_and_a_value_count(path: str, expected: dict[str, str]) -> None:
    assert partitions_of(path) == expected
