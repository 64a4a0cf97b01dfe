"""Histories as elle reads them: every operation once invoked and once completed, reads in the order of offsets."""

from __future__ import annotations

import re
from collections import Counter

from eosctl.lab.history.elle import encode_elle
from eosctl.lab.history.events import Drained, Ended, EndInvoked, Outcome, Polled, SendInvoked, Sent
from eosctl.model.transaction import TopicPartition
from tests.lab.history.synthetic import clean_history

ONE, TWO = TopicPartition("t", 0), TopicPartition("t", 1)
LINE = re.compile(
    r"\{:index (\d+), :type :(invoke|ok|fail|info), :process (\d+), :time \d+, :f :txn, :value (\[.*\])\}"
)


def test_a_small_history_is_what_elle_wants() -> None:
    history = (
        SendInvoked(1, "a", "a/0", ONE, "x"),
        Sent(2, "a", ONE, "x", 0),
        SendInvoked(2, "a", "a/0", TWO, "y"),
        SendInvoked(3, "b", "b/0", ONE, "z"),
        SendInvoked(3, "plain", "", ONE, "p"),
        EndInvoked(3, "a", "a/0", True),
        Ended(4, "a", "a/0", Outcome.COMMITTED),
        Ended(5, "b", "b/0", Outcome.ABORTED),
        Polled(6, "r", ONE, 0, "x"),
        Drained(7, "r", ONE),
    )
    assert list(encode_elle(history)) == [
        "{:index 0, :type :invoke, :process 0, :time 1000000, :f :txn, :value [[:append 0 0] [:append 1 1]]}",
        "{:index 1, :type :invoke, :process 1, :time 3000000, :f :txn, :value [[:append 0 2]]}",
        "{:index 2, :type :ok, :process 0, :time 4000000, :f :txn, :value [[:append 0 0] [:append 1 1]]}",
        "{:index 3, :type :fail, :process 1, :time 5000000, :f :txn, :value [[:append 0 2]]}",
        "{:index 4, :type :invoke, :process 2, :time 7000000, :f :txn, :value [[:r 0 nil]]}",
        "{:index 5, :type :ok, :process 2, :time 7000000, :f :txn, :value [[:r 0 [0]]]}",
    ]


def test_processes_are_sequential_and_end_with_unknown_outcomes() -> None:
    for seed in range(50):
        waiting: set[str] = set()
        gone: set[str] = set()
        kinds: Counter[str] = Counter()
        for number, line in enumerate(encode_elle(clean_history(seed))):
            found = LINE.fullmatch(line)
            assert found is not None, line
            index, kind, process, _ = found.groups()
            assert int(index) == number
            assert process not in gone
            if kind == "invoke":
                assert process not in waiting
                waiting.add(process)
            else:
                waiting.remove(process)
            if kind == "info":
                gone.add(process)
            kinds[kind] += 1
        assert kinds["invoke"] >= kinds["ok"] > 0
