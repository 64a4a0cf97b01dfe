"""Workload files of the tests."""

from __future__ import annotations

from pathlib import Path

import yaml
from jsonschema import Draft202012Validator

from eosctl.capacity.workload_json_schema import describe_workload_files

ROOT = Path(__file__).parents[2]
STREAMS = """\
apiVersion: eosctl/v1
kind: Workload
name: orders
cluster: {brokers: 6, disk: 12 TB, disk_write: 300 MB/s, network: 10 Gb/s, heap: 6 GiB, memory: 64 GiB, zones: 3}
topics:
  orders: {partitions: 32, rate: 10000/s, key: 16 B, value: 1000 B, readers: 1, writers: 8}
  enriched: {partitions: 32, rate: 10000/s, key: 16 B, value: 1000 B, readers: 2}
  changelog: {partitions: 32, rate: 5000/s, value: 200 B, cleanup: compact, live: 50 GB}
applications:
  enrich:
    kind: streams
    producers: 32
    instances: 4
    commit_interval: 100 ms
    transaction_timeout: 30 s
    reads: [orders]
    writes: {enriched: auto, changelog: 1}
    state: 50 GB
growth_per_year: 30 %
"""


SCHEMA = Draft202012Validator(describe_workload_files())


def schema_errors(text: str) -> list[str]:
    """Return what the JSON Schema of workload files refuses in one."""
    return [f"{error.json_path}: {error.message}" for error in SCHEMA.iter_errors(yaml.safe_load(text))]
