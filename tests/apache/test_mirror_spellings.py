"""The recorded answers about spellings of MirrorMaker's settings are those of its classes."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from eosctl.lab.apache.jars import resolve_jars
from eosctl.lab.engine import MissingTool
from tests.apache.libraries import library

RECORDED = Path(__file__).parents[1] / "fixtures" / "configs" / "mirror-spellings.json"
PROGRAM = Path(__file__).with_name("MirrorSpellings.java")
VERSION = "4.3.1"


def test_mirror_maker_answers_as_recorded(tmp_path: Path) -> None:
    java, javac = shutil.which("java"), shutil.which("javac")
    if java is None or javac is None:
        pytest.skip("javac is missing: the program of this test must be compiled")
    try:
        jars = resolve_jars(library(f"mirror-{VERSION}", f"org.apache.kafka:connect-mirror:{VERSION}"))
    except MissingTool as missing:
        pytest.skip(f"{missing.tool} is missing: {missing.what}")
    answers = json.loads(RECORDED.read_text("utf-8"))["answers"]
    (tmp_path / "given.tsv").write_text("".join(f"{one['kind']}\t{one['given']}\n" for one in answers), "utf-8")
    # The program is a class of MirrorMaker's package, whose methods are not public.
    subprocess.run([javac, "-d", str(tmp_path), "-cp", f"{jars}/*", str(PROGRAM)], check=True)
    main = "org.apache.kafka.connect.mirror.MirrorSpellings"
    command = [java, "-Xmx256m", "-cp", f"{tmp_path}:{jars}/*", main, str(tmp_path / "given.tsv")]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [line.split("\t") for line in run.stdout.splitlines() if line.count("\t") == 2]
    assert [{"kind": k, "given": g, "answer": None if a == "null" else a} for k, g, a in lines] == answers
