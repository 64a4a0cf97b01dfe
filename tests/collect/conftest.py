"""A cluster made of prepared answers, for probes that must not need a broker to be tested."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from eosctl.errors import ClusterUnreachable
from eosctl.wire.api_keys import ApiKey


@dataclass
class ScriptedCluster:
    """Answers by broker and API; a broker in ``down`` cannot be reached; every request is recorded."""

    answers: dict[tuple[int, ApiKey], Callable[[Any], Any]] = field(default_factory=dict)
    down: set[int] = field(default_factory=set)
    asked: list[tuple[int, ApiKey, Any]] = field(default_factory=list)

    def on(self, node_id: int, api_key: ApiKey, answer: Any) -> None:
        self.answers[node_id, api_key] = answer if callable(answer) else lambda request: answer

    async def request(self, node_id: int, api_key: ApiKey, message: Any, *, cap: int | None = None) -> Any:
        self.asked.append((node_id, api_key, message))
        if node_id in self.down:
            raise ClusterUnreachable(f"broker {node_id} is down")
        answer = self.answers[node_id, api_key](message)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def request_any(self, api_key: ApiKey, message: Any) -> Any:
        for node_id in sorted({node for node, key in self.answers if key == api_key} - self.down):
            return await self.request(node_id, api_key, message)
        raise ClusterUnreachable("nobody answers")


@pytest.fixture
def cluster() -> ScriptedCluster:
    return ScriptedCluster()
