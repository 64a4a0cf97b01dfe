"""Results of other clients' tests are read as their runners report them, and a difference is one in every run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from scripts.client_suites.clusters import ClusterPlan, command_up
from scripts.client_suites.compare import Comparison, compare
from scripts.client_suites.librdkafka import Entry, list_librdkafka
from scripts.client_suites.outcomes import (
    Outcome,
    Outcomes,
    read_cargo,
    read_go,
    read_junit,
    read_librdkafka,
    unfinished_go,
)
from scripts.client_suites.results import SuiteResult, keep_result, kept_result

PASSED, FAILED, SKIPPED, NOT_RUN = Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED, Outcome.NOT_RUN


class Engine:
    """Runs with prepared results of each test; the last one remains."""

    def __init__(self, **results: Sequence[Outcome]) -> None:
        self._results = {name: list(outcomes) for name, outcomes in results.items()}
        self.asked: list[Sequence[str] | None] = []

    def __call__(self, tests: Sequence[str] | None) -> Outcomes:
        self.asked.append(tests)
        names = self._results if tests is None else tests
        return {name: self._next(self._results[name]) for name in names}

    @staticmethod
    def _next(outcomes: list[Outcome]) -> Outcome:
        return outcomes.pop(0) if len(outcomes) > 1 else outcomes[0]


def test_a_test_that_passes_only_on_kafka_differs() -> None:
    sandbox, kafka = (
        Engine(a=[PASSED], b=[FAILED], c=[NOT_RUN], d=[SKIPPED]),
        Engine(b=[PASSED], c=[FAILED], d=[PASSED]),
    )
    found = compare(sandbox, kafka)
    assert found == Comparison(4, 1, (), ("b", "c"), ("d",), ("c",), (), ("b", "d"))
    assert not found.is_equal
    assert kafka.asked[0] == ("b", "c", "d")


def test_a_test_that_fails_now_and_then_does_not_differ() -> None:
    sandbox = Engine(slow=[FAILED, PASSED], here=[FAILED, FAILED, PASSED], there=[FAILED])
    kafka = Engine(here=[PASSED], there=[PASSED, FAILED])
    found = compare(sandbox, kafka)
    assert (found.passed_again, found.unsteady, found.differing) == (("slow",), ("here", "there"), ())
    assert found.is_equal


def test_real_kafka_is_not_run_without_need() -> None:
    kafka = Engine()
    assert compare(Engine(a=[PASSED]), kafka).is_equal
    assert not kafka.asked


def test_a_suite_without_a_passed_test_is_not_equal() -> None:
    assert not compare(Engine(), Engine()).is_equal
    assert not compare(Engine(a=[FAILED]), Engine(a=[FAILED])).is_equal


def test_whole_tests_of_go_are_read() -> None:
    lines = ["=== RUN TestA", "    --- FAIL: TestA/part (0.1s)", "--- FAIL: TestA (0.1s)", "--- PASS: TestB (0s)"]
    text = "\n".join([*lines, "--- SKIP: TestC (0s)", "PASS"])
    assert read_go(text) == {"TestA": FAILED, "TestB": PASSED, "TestC": SKIPPED}


def test_the_test_that_ended_a_go_program_is_known() -> None:
    lines = ["=== RUN   TestA", "--- PASS: TestA (0s)", "=== RUN   TestB", "=== RUN   TestB/part", "panic: closed"]
    assert unfinished_go("\n".join(lines)) == "TestB"
    assert unfinished_go("\n".join(lines[:2])) is None


def test_results_are_kept_for_a_later_run(tmp_path: Path) -> None:
    result = SuiteResult("c0ffee", "2026-11-30T07:00:00+00:00", compare(Engine(a=[PASSED]), Engine()))
    assert kept_result(tmp_path) is None
    assert keep_result(tmp_path, result) == kept_result(tmp_path) == result


def test_tests_of_cargo_are_read() -> None:
    lines = ["running 3 tests", "test a::b ... ok", "test c - should panic ... FAILED", "test d ... ignored"]
    text = "\n".join([*lines, "test result: FAILED. 1 passed"])
    assert read_cargo(text) == {"a::b": PASSED, "c": FAILED, "d": SKIPPED}


def test_a_junit_test_with_a_failed_teardown_has_failed(tmp_path: Path) -> None:
    path = tmp_path / "report.xml"
    case = '<testcase classname="m" name="{}">{}</testcase>'
    cases = [("a", ""), ("a", "<error/>"), ("b", "<skipped/>"), ("c", ""), ("d", "<failure/>")]
    path.write_text(f"<testsuite>{''.join(case.format(*one) for one in cases)}</testsuite>", "utf-8")
    assert read_junit(path) == {"m::a": FAILED, "m::b": SKIPPED, "m::c": PASSED, "m::d": FAILED}
    assert read_junit(tmp_path / "missing.xml") == {}


def test_a_test_of_librdkafka_without_verdict_has_not_run(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    states = {"0001_a": "PASSED", "0002_b": "FAILED", "0003_c": "RUNNING", "<MAIN>": "FAILED"}
    path.write_text(json.dumps({"tests": {name: {"state": state} for name, state in states.items()}}), "utf-8")
    assert read_librdkafka(path) == {"0001_a": PASSED, "0002_b": FAILED, "0003_c": NOT_RUN}


def test_tests_of_librdkafka_without_a_cluster_are_left_out() -> None:
    table = "#define _TEST(NAME, FLAGS, ...)\n    _TEST(0001_a, 0),\n    _TEST(0002_b,\n          TEST_F_LOCAL),\n"
    rest = (
        '    _TEST(0003_c,\n          0,\n          .scenario = "noautocreate"),\n    _TEST(8000_d, TEST_F_MANUAL),\n'
    )
    assert list_librdkafka(table + rest) == (Entry("0001_a", ("default",)), Entry("0003_c", ("noautocreate",)))


def test_both_engines_run_the_same_release_and_settings() -> None:
    plan = ClusterPlan(9392, brokers=3, settings={"num.partitions": "4"})
    ours, real = command_up(plan, "sandbox"), command_up(plan, "kafka")
    assert set(ours) ^ set(real) == {"--emulate", "4.3", "--engine", "apache", "--kafka-version", "4.3.1"}
    assert command_up(plan._replace(racks=("a", "b"), user="alice"), "kafka")[-6:] == (
        *("--rack", "a", "--rack", "b"),
        *("--user", "alice"),
    )
    assert plan.bootstrap == "127.0.0.1:9392,127.0.0.1:9393,127.0.0.1:9394"
