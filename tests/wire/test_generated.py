"""The generated codec matches the tables on every machine; an outdated one is rejected."""

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from eosctl.wire.api_keys import ApiKey
from eosctl.wire.codec import codec
from eosctl.wire.messages.delete_topics import DeletableTopicResult, DeleteTopicsResponse
from eosctl.wire.uuid import ZERO_UUID
from scripts.generate_wire.files import BY_HAND, STAMP, stale_files, write_files
from scripts.generate_wire.modules import generate

ROOT = Path(__file__).parents[2]
TABLE = "eosctl/wire/schema/api/end_txn.msg"


def test_generated_code_is_what_the_tables_say() -> None:
    assert stale_files(generate()) == []


def test_generated_code_depends_on_the_tables_alone() -> None:
    shows = (
        "import hashlib; from scripts.generate_wire.modules import generate\n"
        "print(hashlib.sha256(repr(sorted(generate().items())).encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", shows],
            cwd=ROOT,
            env=os.environ | {"PYTHONHASHSEED": seed, "LC_ALL": "C", "PYTHONUTF8": "0"},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(digests) == 1


def test_no_encoder_asks_twice_whether_a_field_is_null() -> None:
    branches, twice = 0, []
    for name, text in generate().items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.If) and ast.unparse(node.test).endswith(" is not None"):
                branches += 1
                asked = ast.unparse(node.test).replace(" is not ", " is ")
                inner = [one for part in node.body for one in ast.walk(part) if isinstance(one, ast.Compare)]
                twice += [f"{name}:{node.lineno}" for one in inner if ast.unparse(one) == asked]
    assert branches > 10
    assert twice == []


def test_no_encoder_takes_any_message() -> None:
    codecs = {path: text for path, text in generate().items() if "def encode(" in text}
    assert len(codecs) > 300
    assert [path for path, text in codecs.items() if "def encode(message: Any)" in text] == []


def test_null_is_refused_in_a_version_without_it() -> None:
    answer = DeleteTopicsResponse(0, [DeletableTopicResult(None, ZERO_UUID, 0)])
    with pytest.raises(ValueError, match="name cannot be null in this version"):
        codec(ApiKey.DELETE_TOPICS, 3).encode_response(answer)
    assert codec(ApiKey.DELETE_TOPICS, 6).encode_response(answer)


def test_what_differs_is_written_and_what_is_surplus_is_removed(tmp_path: Path) -> None:
    wanted = generate()
    assert set(write_files(tmp_path)) == set(wanted)
    assert write_files(tmp_path) == []
    codec = tmp_path / "generated" / "end_txn_request_v3.py"
    text = codec.read_text("utf-8")
    codec.write_text("changed\n", "utf-8")
    (tmp_path / "generated" / "end_txn_request_v9.py").touch()
    (tmp_path / "messages" / "fetch.py").unlink()
    (tmp_path / BY_HAND).write_text("by hand\n", "utf-8")
    stale = ["generated/end_txn_request_v3.py", "generated/end_txn_request_v9.py", "messages/fetch.py"]
    assert write_files(tmp_path) == stale
    assert codec.read_text("utf-8") == text
    assert (tmp_path / BY_HAND).read_text("utf-8") == "by hand\n"
    assert stale_files(wanted, tmp_path) == []


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What a checkout needs for its codec."""
    without = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(ROOT / "eosctl" / "wire", tmp_path / "eosctl" / "wire", ignore=without)
    shutil.copytree(ROOT / "scripts" / "generate_wire", tmp_path / "scripts" / "generate_wire", ignore=without)
    for name in ("eosctl/__init__.py", "eosctl/errors.py", "scripts/__init__.py"):
        shutil.copy2(ROOT / name, tmp_path / name)
    return tmp_path


def use_codec(checkout: Path) -> str:
    """Load a codec in a process of its own; return the error, or nothing."""
    done = subprocess.run(
        [sys.executable, "-c", "from eosctl.wire.codec import codec; codec(26, 5)"],
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode != 0) == bool(done.stderr)
    return done.stderr


def add_field(checkout: Path) -> None:
    with (checkout / TABLE).open("a", encoding="utf-8") as table:
        table.write("  reason  string\n")


def remove_table(checkout: Path) -> None:
    (checkout / TABLE).unlink()


def change_generator(checkout: Path) -> None:
    with (checkout / "scripts/generate_wire/encoder.py").open("a", encoding="utf-8") as source:
        source.write("# changed\n")


@pytest.mark.parametrize("change", [add_field, change_generator, remove_table])
def test_an_outdated_codec_is_rejected_until_regenerated(checkout: Path, change: Callable[[Path], None]) -> None:
    assert use_codec(checkout) == ""
    change(checkout)
    assert "The wire codec does not match its message tables." in use_codec(checkout)
    subprocess.run(
        [sys.executable, "-m", "scripts.generate_wire"],
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": str(checkout)},
        check=True,
    )
    assert ("KeyError: 26" if change is remove_table else "") in use_codec(checkout)


def test_a_missing_codec_is_named(checkout: Path) -> None:
    (checkout / "eosctl" / "wire" / STAMP).unlink()
    error = use_codec(checkout)
    assert "The wire codec is missing." in error
    assert f"cd {checkout} && {sys.executable} -m scripts.generate_wire" in error


def test_tables_that_only_seem_changed_are_not_refused(checkout: Path) -> None:
    os.utime(checkout / TABLE)
    assert use_codec(checkout) == ""


def test_an_installation_has_no_generator_and_needs_none(checkout: Path) -> None:
    shutil.rmtree(checkout / "scripts")
    add_field(checkout)
    assert use_codec(checkout) == ""
