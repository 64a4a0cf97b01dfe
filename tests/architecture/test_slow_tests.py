"""The list of slow tests names tests that exist, and the measurement sorts them rightly."""

from __future__ import annotations

from pathlib import Path

from scripts.slow_tests import LIST, slow_ones
from tests.conftest import SLOW, in_share


def test_the_list_names_tests_that_exist(project_root: Path) -> None:
    gone = []
    for name in LIST.read_text("utf-8").splitlines()[1:]:
        file, _, inner = name.partition("::")
        path = project_root / file
        function = inner.partition("[")[0].rpartition("::")[2]
        written = path.read_text("utf-8") if path.exists() else ""
        if f"def {function}(" not in written and inner.partition("::")[0] not in written:
            gone.append(name)
    assert gone == []


def test_enough_processor_or_five_seconds_of_time_are_slow() -> None:
    measured = (
        "0.39\t4.99\ta.py::quick\n0.40\t1.00\ta.py::works[x y]\n0.01\t5.00\ta.py::waits\n0.10\t0.10\ta.py::waits\n"
    )
    assert slow_ones(measured) == ["a.py::waits", "a.py::works[x y]"]


def test_each_slow_test_is_in_one_share_with_its_module() -> None:
    shares = [{name for name in SLOW if in_share(name, number, 3)} for number in (1, 2, 3)]
    modules = [{name.partition("::")[0] for name in share} for share in shares]
    assert set.union(*shares) == SLOW
    assert sum(map(len, shares)) == len(SLOW)
    assert sum(map(len, modules)) == len(set.union(*modules))
    assert min(map(len, modules)) > 20
