"""Rules that a linter cannot check: only safe loaders read YAML, and no other code executes data."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SAFE_LOADERS = {'getattr(yaml, "CSafeLoader", yaml.SafeLoader)', "yaml.SafeLoader"}
MAKES_CODE = {"eval", "exec", "compile", "pickle.load", "pickle.loads", "marshal.loads", "os.system", "os.popen"}


def unsafe_calls(source: str) -> Iterator[str]:
    """Yield the calls of a module that could run what they read."""
    tree = ast.parse(source)
    safe_classes = {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and any("SafeLoader" in ast.unparse(base) for base in node.bases)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name, text = ast.unparse(node.func), ast.unparse(node)
        words = {word.arg: ast.unparse(word.value).replace("'", '"') for word in node.keywords}
        reads_yaml = name.startswith("yaml.") and "load" in name and not name.startswith("yaml.safe_load")
        reads_unsafely = reads_yaml and words.get("Loader") not in SAFE_LOADERS | safe_classes
        if reads_unsafely or name in MAKES_CODE or words.get("shell") == "True":
            yield text


@pytest.mark.quick
@pytest.mark.parametrize("package", ["eosctl", "spark_log_analytics"])
def test_nothing_makes_code_of_data(project_root: Path, package: str) -> None:
    found = [
        f"{path.relative_to(project_root)}: {call}"
        for path in sorted((project_root / package).rglob("*.py"))
        if "generated" not in path.parts  # the generated codec
        for call in unsafe_calls(path.read_text("utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    "planted",
    ["yaml.load(text)", "yaml.load(text, Loader=yaml.Loader)", "eval(text)", "subprocess.run(text, shell=True)"],
)
def test_what_makes_code_is_found(planted: str) -> None:
    assert list(unsafe_calls(planted)) == [planted]
