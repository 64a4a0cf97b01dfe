"""The recorded answers about spellings of MirrorMaker's settings are those of its classes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from eosctl.lab.apache.jars import resolve_jars
from eosctl.lab.engine import MissingTool
from tests.apache.java_programs import compile_java, java_command
from tests.apache.libraries import library

RECORDED = Path(__file__).parents[1] / "fixtures" / "configs" / "mirror-spellings.json"
PROGRAM = Path(__file__).with_name("MirrorSpellings.java")
VERSION = "4.3.1"


def test_mirror_maker_answers_as_recorded(tmp_path: Path) -> None:
    try:
        jars = resolve_jars(library(f"mirror-{VERSION}", f"org.apache.kafka:connect-mirror:{VERSION}"))
    except MissingTool as missing:
        pytest.skip(f"{missing.tool} is missing: {missing.what}")
    answers = json.loads(RECORDED.read_text("utf-8"))["answers"]
    (tmp_path / "given.tsv").write_text("".join(f"{one['kind']}\t{one['given']}\n" for one in answers), "utf-8")
    # The program is a class of MirrorMaker's package, whose methods are not public.
    compile_java(PROGRAM, tmp_path, f"{jars}/*")
    main = "org.apache.kafka.connect.mirror.MirrorSpellings"
    command = java_command(f"{tmp_path}:{jars}/*", main, heap_mib=256)
    run = subprocess.run([*command, str(tmp_path / "given.tsv")], capture_output=True, text=True, check=True)
    lines = [line.split("\t") for line in run.stdout.splitlines() if line.count("\t") == 2]
    assert [{"kind": k, "given": g, "answer": None if a == "null" else a} for k, g, a in lines] == answers
