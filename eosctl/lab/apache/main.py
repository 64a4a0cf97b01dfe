"""The process of a sandbox with real brokers: starts the JVMs, serves the control socket, and stops them."""

from __future__ import annotations

import random
import sys
import time

from eosctl.lab.apache.cluster import ApacheCluster
from eosctl.sandbox.process.serving import serve
from eosctl.sandbox.process.spec import SandboxSpec


def _make(spec: SandboxSpec, lock: int) -> ApacheCluster:
    return ApacheCluster(spec, random.Random(), lambda: time.time_ns() // 1_000_000)


if __name__ == "__main__":
    sys.exit(serve(SandboxSpec.from_json(sys.stdin.read()), int(sys.argv[1]), _make))
