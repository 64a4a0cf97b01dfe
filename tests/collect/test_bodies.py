"""A secret of several lines or records is masked below every prefix that carriers and loggers put before each line."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eosctl.collect.bundles.bodies import body_of
from eosctl.collect.bundles.redaction import redacted_lines
from tests.architecture.test_linear_patterns import assert_linear
from tests.model.positions import CANARY, planted

TIME: Final = "2026-11-21T09:00:00.123456789Z"
LAYOUTS: Final[dict[str, Callable[[str], str]]] = {
    "plain": lambda line: line,
    "record": lambda line: f"[2026-11-21 09:00:00,123] INFO {line} (x.Y)",
    "record-of-a-client": lambda line: f"[2026-11-21 09:00:00,123] WARN [Producer clientId=a] {line} (x.Y)",
    "logback": lambda line: f"2026-11-21 09:00:00.123  WARN 1 --- [main] o.a.k.c.p.Foo : {line}",
    "cri": lambda line: f"{TIME} stdout F {line}",
    "kubectl": lambda line: f"{TIME} {line}",
    "docker": lambda line: json.dumps({"log": f"{line}\n", "stream": "stdout", "time": TIME}),
    "docker-of-a-record": lambda line: json.dumps(
        {"log": f"[2026-11-21 09:00:00,123] INFO {line}\n", "stream": "stdout"}
    ),
    "compose": lambda line: f"pod-1  | {line}",
    "pod": lambda line: f"[pod/kafka-0/kafka] {line}",
    "syslog": lambda line: f"Nov 21 09:00:00 host app[1]: {line}",
    "json": lambda line: json.dumps({"timestamp": TIME, "level": "INFO", "message": line}),
    "json-in-cri": lambda line: f"{TIME} stderr F {json.dumps({'msg': line})}",
}
#: Bodies of PEM blocks without their first line have a test of their own.
_NOT_BELOW_A_PREFIX: Final = ("pem-without-begin",)


@given(planted(), st.sampled_from(sorted(LAYOUTS)))
@settings(max_examples=600)
def test_a_secret_is_masked_below_every_prefix(chosen: tuple[str, str], layout: str) -> None:
    position, text = chosen
    if position.startswith(_NOT_BELOW_A_PREFIX):
        return
    wrapped = "".join(f"{LAYOUTS[layout](line)}\n" for line in ("before", *text.split("\n"), "behind"))
    masked = b"".join(redacted_lines(wrapped.encode())).decode()
    assert CANARY not in masked, (position, layout)
    assert masked.count("\n") == wrapped.count("\n")
    assert "before" in masked


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_the_body_of_a_line_is_what_was_written(layout: str) -> None:
    for text in ("password:", "  indented: x", "| a | b |", 'x "y" \\ z', "{x}", "", "db.password: x", "a - b"):
        body = body_of(LAYOUTS[layout](text) + "\n")
        assert body.text.rstrip() == text
        assert len(body.starts) > len(body.text)


def test_streams_are_read_apart() -> None:
    lines = ["a-1 | password: |", "b-1 | other", f"a-1 |   {CANARY}", "b-1 |   kept"]
    masked = b"".join(redacted_lines("\n".join(lines).encode())).decode()
    assert CANARY not in masked
    assert "kept" in masked


def test_a_long_table_is_masked_to_its_end() -> None:
    rows = [f"2026-11-21 09:00:00,{row % 1000:03d} INFO user-{row},{CANARY},x" for row in range(9_000)]
    text = "\n".join(["2026-11-21 09:00:00,000 INFO user,password,role", *rows, "2026-11-21 09:00:00,000 INFO kept"])
    masked = b"".join(redacted_lines(text.encode())).decode()
    assert CANARY not in masked
    assert "kept" in masked


@pytest.mark.parametrize(
    "unit",
    [
        "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n", "-----END PRIVATE KEY-----",
        "password: |\n", "a | ",
        '{"log":"', '{"log":"a\\n"}\n', "2026-11-21 ", "[a] ", "INFO ", "a.B - ", "password\\\n", "user,password\n",
        "kind: Secret\ndata:\n a: b\n", "password = <<A\n", "name: password\n", "<td>", "\\u0061\n",
    ],
)  # fmt: skip
def test_a_bundle_is_masked_in_linear_time(unit: str) -> None:
    assert_linear(lambda count: list(redacted_lines((unit * count).encode())))


@pytest.mark.parametrize("distance", range(-24, 25, 6))
@pytest.mark.parametrize("secret", ['"password":"hunter2 SECRET value 99"', f'"note":"ghp_{"a1B2" * 9}"'])
def test_a_secret_at_the_edge_of_a_step_in_a_long_line_is_masked(secret: str, distance: int) -> None:
    text = f'{{"m":"{"a b " * (1 << 18)}'
    line = f'{text[: (1 << 20) + distance - 20]}",{secret},"n":1}}\n'
    shown = b"".join(redacted_lines(line.encode())).decode()
    assert '"n":1}\n' in shown
    for word in ("hunter2", "SECRET", "value 99", "a1B2a1B2"):
        assert word not in shown
