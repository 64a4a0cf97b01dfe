"""The first minutes: no arguments, typing errors, a wrong profile, narrow and missing terminals, completion."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from eosctl.errors import unknown_name
from tests.commands.conftest import eosctl

BIN = Path(sys.executable).parent
LONG_S = 240


def test_without_arguments_the_commands_are_listed() -> None:
    shown = eosctl()
    assert (shown.code, shown.err) == (0, "")
    assert all(command in shown.out for command in ("doctor", "sandbox", "txn", "demo"))


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["docter"], "'doctor'"),
        (["txn", "hangin"], "'hanging'"),
        (["schema", "diagnosys"], "'diagnosis'"),
        (["runbook", "show", "hanging-transactoin"], "'hanging-transaction'"),
        (["checklist", "run", "brokerupgrade"], "'broker-upgrade'"),
        (["check", "explain", "CFG-21"], "'EOS-CFG-021'"),
        (["check", "run", "hangin"], "'hanging'"),
        (["runbook", "show", "hanging"], "'hanging-transaction'"),
        (["sandbox", "scenario", "show", "hanging-transaction"], "'hanging' or"),
        (["explain", "hanging-transacton"], "hanging-transaction"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_a_typing_error_gets_a_suggestion(words: list[str], meant: str) -> None:
    refused = eosctl(*words)
    assert (refused.code, refused.out) == (2, "")
    assert "Did you mean" in refused.err
    assert meant in refused.err


@pytest.mark.parametrize(
    ("name", "next_step"),
    [
        ("orders-0/00000000000000000000.log", "decode segment"),
        ("__transaction_state-3/00000000000000000000.log", "decode txn-log"),
        ("__consumer_offsets-3/00000000000000000000.timeindex", "decode time-index"),
        ("replication-offset-checkpoint", "decode checkpoint"),
        ("notes.txt", "decode KIND"),
    ],
)
def test_a_file_without_its_kind_gets_the_right_decoder(tmp_path: Path, name: str, next_step: str) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.touch()
    refused = eosctl("decode", str(file))
    assert (refused.code, refused.out) == (2, "")
    assert f"eosctl {next_step} " in refused.err


def test_a_release_stands_for_all_that_comes_with_it() -> None:
    alone = eosctl("bugs", "3.7.0", "-o", "json")
    named = eosctl(
        "bugs", *(f"--{part}-version=3.7.0" for part in ("kafka", "client", "streams", "connect")), "-o", "json"
    )
    assert alone.json["items"] == named.json["items"] != []


def test_files_of_unknown_format_get_a_reason(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("acks=all\n")
    refused = eosctl("config", "lint", str(tmp_path / "README.md"))
    assert refused.code == 2
    assert "  why: It is detected by the file's ending: .properties" in refused.err


def test_many_names_are_not_read_out_and_few_are() -> None:
    few = unknown_name("profile", "prud", ["prod", "test"], "List them: eosctl profile list")
    assert few.why == "Known: prod, test."
    assert few.next_step == "Did you mean 'prod'? List them: eosctl profile list."
    assert unknown_name("profile", "x", [], "Add it").why == "None exists."
    many = unknown_name("metric", "PROD-1", (f"prod-{number}" for number in range(40)), "List them")
    assert "prod-2," not in many.why
    assert "'prod-1'" in many.next_step


def test_an_unknown_profile_gets_the_command_that_adds_one() -> None:
    refused = eosctl("profile", "show", "nowhere")
    assert (refused.code, refused.out) == (2, "")
    assert "nowhere" in refused.err
    assert "next: " in refused.err


def test_without_java_only_spark_is_missing(tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text("2026-11-21 09:00:00,000 ERROR [main] app: down\n")
    words = [sys.executable, "-m", "eosctl", "logs", "report", "app.log", "--engine", "spark"]
    environment = {key: value for key, value in os.environ.items() if key != "JAVA_HOME"} | {"PATH": str(tmp_path)}
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert "Java" in done.stderr
    assert "next: " in done.stderr


def on_terminal(*words: str, columns: int, home: Path, **variables: str) -> str:
    """Return what the program writes to a terminal of this width."""
    ours, theirs = pty.openpty()
    try:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        inherited = {
            key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS", "FORCE_COLOR")
        }
        environment = inherited | {"TERM": "xterm-256color", "HOME": str(home)} | variables
        process = subprocess.Popen(
            [sys.executable, "-m", "eosctl", *words], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
        )
    finally:
        os.close(theirs)
    shown = b""
    try:
        while chunk := read_terminal(ours):
            shown += chunk
        assert process.wait(LONG_S) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return shown.decode()


def read_terminal(descriptor: int) -> bytes:
    """Return the next bytes, or nothing when the other end is closed, which Linux reports as an error."""
    try:
        return os.read(descriptor, 65_536)
    except OSError:
        return b""


ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def test_narrow_terminals_get_narrow_lines_and_no_color_works(tmp_path: Path) -> None:
    coloured = on_terminal("check", "explain", "EOS-TXN-001", columns=40, home=tmp_path)
    plain = on_terminal("check", "explain", "EOS-TXN-001", columns=40, home=tmp_path, NO_COLOR="1")
    assert ESCAPES.search(coloured)
    assert not ESCAPES.search(plain)
    # Commands are never broken, so that they can be copied.
    prose = [line for line in plain.splitlines() if " " in line.strip() and "eosctl " not in line]
    assert len(prose) > 20
    assert max(map(len, prose)) <= 40


def completed(shell: str, script: str, tmp_path: Path) -> str:
    """Run a script in a shell after the program's own completion for it was loaded."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is missing (Debian: {shell})")
    environment = os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}", "HOME": str(tmp_path), "TERM": "dumb"}
    source = subprocess.run(
        [BIN / "eosctl"],
        env=environment | {"_EOSCTL_COMPLETE": f"source_{shell}"},
        capture_output=True,
        text=True,
        check=False,
    )
    (tmp_path / "completion").write_text(source.stdout)
    quiet = {"bash": ["--noprofile", "--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    done = subprocess.run(
        [shell, *quiet, "-c", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LONG_S,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout


def test_bash_completes(tmp_path: Path) -> None:
    script = """source ./completion
    COMP_WORDS=(eosctl txn ha); COMP_CWORD=2; _eosctl_completion eosctl; echo "${COMPREPLY[@]}"
    COMP_WORDS=(eosctl txn abort --part); COMP_CWORD=3; _eosctl_completion eosctl; echo "${COMPREPLY[@]}"
    complete -p eosctl"""
    assert completed("bash", script, tmp_path).splitlines() == [
        "hanging",
        "--partition",
        "complete -o default -F _eosctl_completion eosctl",
    ]


@pytest.mark.parametrize(
    "words",
    [{}, {"COMP_WORDS": "eosctl tx"}, *({"COMP_WORDS": "eosctl tx", "COMP_CWORD": n} for n in ("", "x", "-1", "²"))],
)
def test_a_completion_that_no_shell_asked_for_is_refused(
    words: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("COMP_WORDS", "COMP_CWORD"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"_EOSCTL_COMPLETE": "complete_bash", **words}.items():
        monkeypatch.setenv(name, value)
    done = eosctl("doctor")
    assert (done.code, done.err.splitlines()[0]) == (2, "error: Nothing can be completed.")


@pytest.mark.parametrize("instruction", ["rubbish", "source_rubbish", "complete_", "_", "complete_rubbish_x"])
def test_a_rubbish_completion_is_refused(instruction: str) -> None:
    environment = {**os.environ, "_EOSCTL_COMPLETE": instruction}
    command = [sys.executable, "-m", "eosctl", "version"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.strip()
    assert "defect" not in done.stderr
    assert "Traceback" not in done.stderr


def test_zsh_completes(tmp_path: Path) -> None:
    # What the completion system would be asked to offer, without the editor around it.
    script = """compdef() { print -r -- "compdef $@" }; _arguments() { print -r -- "$@" }; _files() { : }
    source ./completion
    words=(eosctl txn ha); CURRENT=3; _eosctl_completion"""
    told = completed("zsh", script, tmp_path)
    assert "compdef _eosctl_completion eosctl" in told
    assert '"hanging"' in told


def test_fish_completes(tmp_path: Path) -> None:
    script = 'source ./completion; complete -C "eosctl txn ha"; complete -C "eosctl doc"'
    offered = [line.split("\t")[0] for line in completed("fish", script, tmp_path).splitlines()]
    assert {"hanging", "doctor"} <= set(offered)
