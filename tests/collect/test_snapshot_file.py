import gzip
import json

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eosctl.collect.bundles.snapshot_file import (
    decode_snapshot,
    encode_snapshot,
    load_snapshot,
    save_snapshot,
    snapshot_json_schema,
)
from eosctl.errors import ConfigFileError
from eosctl.model.snapshot import ClusterSnapshot

names = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12)
st.register_type_strategy(str, names)
st.register_type_strategy(int, st.integers(-(2**62), 2**62))
snapshots = st.builds(ClusterSnapshot)


@settings(max_examples=60)
@given(snapshot=snapshots)
def test_a_snapshot_survives_its_file(snapshot):
    assert decode_snapshot(encode_snapshot(snapshot)) == snapshot


@settings(max_examples=20)
@given(snapshot=snapshots)
def test_the_file_follows_its_schema(snapshot):
    jsonschema.validate(json.loads(encode_snapshot(snapshot)), snapshot_json_schema())


def test_a_file_is_written_whole(tmp_path):
    path = tmp_path / "evidence.json"
    snapshot = ClusterSnapshot(captured_at_ms=1, cluster_id="c")
    save_snapshot(snapshot, path)
    assert load_snapshot(path) == snapshot
    assert [entry.name for entry in tmp_path.iterdir()] == ["evidence.json"]


def test_a_compressed_file_is_read(tmp_path):
    snapshot = ClusterSnapshot(captured_at_ms=1, cluster_id="c")
    path = tmp_path / "evidence.json.gz"
    path.write_bytes(gzip.compress(encode_snapshot(snapshot)))
    assert load_snapshot(path) == snapshot


@pytest.mark.parametrize("cut", [5, 30, -1])
def test_a_truncated_compressed_file_is_refused(tmp_path, cut):
    path = tmp_path / "evidence.json.gz"
    path.write_bytes(gzip.compress(encode_snapshot(ClusterSnapshot(captured_at_ms=1, cluster_id="c")))[:cut])
    with pytest.raises(ConfigFileError, match=f"Cannot read {path}"):
        load_snapshot(path)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is not an eosctl snapshot"),
        (b"\xff\xfe", "is not an eosctl snapshot"),
        (b"[1, 2]", "is not an eosctl snapshot"),
        (b'{"schema": "other", "schema_version": 1}', "has the schema 'other'"),
        (b'{"schema": "eosctl.snapshot", "schema_version": 99}', "schema version 99"),
        (b'{"schema": "eosctl.snapshot", "schema_version": 1, "snapshot": {"cluster_id": 7}}', "is damaged"),
    ],
)
def test_other_files_are_refused_with_a_reason(data, says):
    with pytest.raises(ConfigFileError, match=says):
        decode_snapshot(data, "evidence.json")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigFileError, match=r"Cannot read .*gone\.json"):
        load_snapshot(tmp_path / "gone.json")


@pytest.mark.parametrize("before", ["", '"schema": "eosctl.snapshot", "schema_version": 1, '])
def test_nesting_beyond_the_stack_is_refused(before):
    deep = f'{{{before}"snapshot": {"[" * 100_000}'.encode()
    with pytest.raises(ConfigFileError):
        decode_snapshot(deep)
