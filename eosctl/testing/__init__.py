"""A sandbox for tests: `with SandboxThread(brokers=3) as kafka`, or pytest's fixture `eos_cluster`."""

from __future__ import annotations

from eosctl.testing.sandbox_thread import SandboxThread

__all__ = ["SandboxThread"]
