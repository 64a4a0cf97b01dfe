"""The Java client of each release: the same program, on a real broker and on the sandbox, prints the same lines."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from eosctl.lab.apache.java import ToolResult, prepare_runtime, run_tool
from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.lab.apache.releases import resolve_release
from eosctl.lab.engine import MissingTool
from eosctl.testing import SandboxThread
from tests.apache.java_programs import compile_java

SOURCE = Path(__file__).with_name("java") / "EosScenario.java"
EMULATIONS = {"3.9.2": "3.9", "4.3.1": "4.3"}


class JavaProgram:
    """The compiled program, for one release of the client."""

    def __init__(self, version: str, directory: Path) -> None:
        self.version = version
        try:
            self._runtime = prepare_runtime(resolve_release(version))
        except MissingTool as missing:
            pytest.skip(f"{missing.tool} is missing: {missing.what}")
        self._classes = directory
        compile_java(SOURCE, directory, f"{self._runtime.jars}/*")

    def run(self, bootstrap: str, group_protocol: str) -> list[str]:
        """Run the program against a cluster and return its output with masked topic names."""
        prefix = f"scenario-{uuid.uuid4().hex[:8]}"
        # A later -cp replaces an earlier one. The archive of classes serves a class path that begins with its jars.
        class_path = f"{self._runtime.jars}/*:{self._classes}"
        done: ToolResult = run_tool(self._runtime, "-cp", class_path, "EosScenario", bootstrap, prefix, group_protocol)
        assert done.exit_code == 0, done.stdout + done.stderr
        return done.stdout.replace(prefix, "scenario").splitlines()


@pytest.fixture(scope="module", params=EMULATIONS, ids=lambda version: f"client-{version}")
def scenario(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> JavaProgram:
    return JavaProgram(request.param, tmp_path_factory.mktemp("classes"))


def test_the_java_client_sees_no_difference(apache: ApacheNodes, scenario: JavaProgram) -> None:
    version = apache.name.split()[1]
    # The consumer protocol (KIP-848) is served from 4.0 on, and the client of 3.9 knows a preview of it.
    both_new = version == scenario.version == "4.3.1"
    for group_protocol in ("classic", "consumer") if both_new else ("classic",):
        real = scenario.run(apache.bootstrap, group_protocol)
        with SandboxThread(emulate=EMULATIONS[version], fast=False) as sandbox:
            ours = scenario.run(sandbox.bootstrap, group_protocol)
        assert ours == real
        assert len(real) == 25
