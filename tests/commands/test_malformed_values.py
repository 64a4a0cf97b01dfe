"""Every option that takes a URL, an expression, a time, or a number takes or refuses any text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest

from tests.commands.conftest import eosctl
from tests.commands.every_command import RUNNING, Leaf, leaves

DIGITS: Final = "9" * 5_000
URLS: Final = ("http://[::1", "http://h:99999/x", f"http://h:{DIGITS}/", "http://a b/", "file:///etc/passwd", "//h")
MALFORMED: Final[Mapping[str, Sequence[str]]] = {
    "URL": URLS,
    "HOST:PORT": ("[::1", f"h:{DIGITS}", "h:-1", ":"),
    "REGEX": ("(" * 5_000, "a{99999999999999999999}", "[[a", "(?P<a>", "\\"),
    "PATTERN": ("(" * 5_000, f"%{DIGITS}m", f"%d{{{'y' * 5_000}}} %m%n", "%d{'"),
    "DURATION": (f"{DIGITS}s", "1e999s", "nans", "-1s", "\u0661s"),
    "TIME": (DIGITS, f"-{DIGITS}m", "0000-00-00", "9999-12-31T23:59:60Z", "\u0661"),
    "A:B": (f"{DIGITS}:1", "1:0", ":", "a:b"),
    "OFFSET|@TIME": (DIGITS, f"@-{DIGITS}d", "-1"),
    "TOPIC-PARTITION": (f"orders-{DIGITS}", "orders-4294967296", "orders--1"),
    "SIZE": (f"{DIGITS}GB", "-1", "nan"),
    "BYTES": (f"{DIGITS}GB", "-1", "nan"),
    "N/s": (f"{DIGITS}/s", "-1", "nan"),
    "VERSION": (DIGITS, ".".join("9" * 2_000), "\u0661.\u0662"),
}


def taken(leaf: Leaf) -> list[tuple[str, str]]:
    """Return the options of a command with such a value, and the kind of the value."""
    found = ((one.opts[0], str(one.metavar)) for one in leaf.parameters if one.param_type_name == "option")
    return [(name, kind) for name, kind in found if kind in MALFORMED]


@pytest.mark.parametrize(
    "leaf", [leaf for leaf in leaves() if leaf.name not in RUNNING and taken(leaf)], ids=lambda leaf: leaf.name
)
def test_a_malformed_value_never_breaks_a_command(leaf: Leaf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    (tmp_path / "x").write_text("acks=1\n", "utf-8")
    words = ["x" for one in leaf.parameters if one.param_type_name == "argument" and one.required]
    for option, kind in taken(leaf):
        for value in MALFORMED[kind]:
            done = eosctl(*leaf.words, f"{option}={value}", *(("--", *words) if words else ()))
            assert done.code in (0, 1, 2, 3, 4), (option, value[:40], done.err[-300:])
            assert "defect in eosctl" not in done.err, (option, value[:40], done.err[-300:])
            assert "set_int_max_str_digits" not in done.err, (option, value[:40])
            assert "Warning" not in done.err, (option, value[:40], done.err[-300:])
