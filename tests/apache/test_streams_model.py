"""The model of a Streams application is held to what Kafka Streams does in lives that are killed or closed."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from eosctl.lab.workloads.streams.rules import STREAMS_3_9, STREAMS_4_3, TRANSACTIONAL_STORES, Rules
from eosctl.testing import SandboxThread
from tests.apache.conftest import fetch_streams
from tests.apache.test_streams import LONG_S, WORDS, Counts, application, compile_word_count, write_lines
from tests.lab.workloads.streams_stage import LifeFacts, checkpoint_states, lives_of_model

LINES = 100
#: Killed when new, killed after it was restored, closed, killed after a clean start, closed.
CLEAN_ENDS: Final = (False, False, True, False, True)


def lives_of_streams(version: str, folder: Path, *, emulate: str, transactional: bool) -> list[LifeFacts]:
    """Run Kafka Streams through the same restarts; every store has two of the words."""
    classes = folder / "classes"
    classes.mkdir()
    java, *rest = compile_word_count(fetch_streams(version), classes)
    command = [java, f"-Dtransactional.stores={str(transactional).lower()}", *rest]
    facts: list[LifeFacts] = []
    with SandboxThread(brokers=1, emulate=emulate, fast=False) as sandbox:
        admin = AdminClient({"bootstrap.servers": sandbox.bootstrap})
        for created in admin.create_topics([NewTopic("lines", 2), NewTopic("counts", 2)]).values():
            created.result(LONG_S)
        counts = Counts(sandbox.bootstrap)
        for number, is_clean in enumerate(CLEAN_ENDS, 1):
            write_lines(sandbox.bootstrap, LINES)
            with application(command, sandbox.bootstrap, folder, str(number)) as (running, log):
                expected = number * LINES
                counts.read_until(lambda: all(len(counts.seen[word]) >= expected for word in WORDS), running, log)  # noqa: B023
                while_running = checkpoint_states(folder / "state")
                if is_clean:
                    running.terminate()
                else:
                    running.kill()
                running.wait(LONG_S)
                output = [line.split() for line in log.read_text().splitlines()]
            restored = tuple(sorted(int(words[1]) for words in output if words[0] == "restored"))
            facts.append(LifeFacts(restored, while_running, checkpoint_states(folder / "state")))
        counts.close()
    assert dict(counts.seen) == {word: list(range(1, len(CLEAN_ENDS) * LINES + 1)) for word in WORDS}
    return facts


@pytest.mark.parametrize(
    ("version", "emulate", "rules", "after_two_kills"),
    [
        # The same rules as of 4.4.0.
        pytest.param("4.3.1", "4.3", STREAMS_4_3, (400, 400), marks=pytest.mark.long),
        pytest.param("3.9.2", "3.9", STREAMS_3_9, (200, 200), marks=pytest.mark.long),
        ("4.4.0", "4.4", STREAMS_4_3, (400, 400)),
        ("4.4.0", "4.4", TRANSACTIONAL_STORES, (400, 400)),  # RocksDB has written nothing out yet
    ],
    ids=["4.3.1", "3.9.2", "4.4.0", "4.4.0-transactional"],
)
def test_the_model_restores_and_checkpoints_as_streams_does(
    version: str, emulate: str, rules: Rules, after_two_kills: tuple[int, int], tmp_path: Path
) -> None:
    (tmp_path / "model").mkdir()
    model = lives_of_model(tmp_path / "model", rules, CLEAN_ENDS, LINES, emulate=emulate)
    real = lives_of_streams(version, tmp_path, emulate=emulate, transactional=rules.buffers_writes)
    assert real == model
    assert model[2].restored == after_two_kills
