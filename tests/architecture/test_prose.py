"""The prose linter reads every kind of text (`make static` runs it), and CI refuses subjects that are too long."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from scripts.prose.check import allowed, ceilings, files_read, lowered, over, package_of, places, rules
from scripts.prose.texts import texts_of


def test_ceilings_name_packages_of_the_project() -> None:
    assert set(ceilings()) <= {package_of(name) for name in files_read()}


def test_every_exception_stands_where_it_says(project_root: Path) -> None:
    listed = [(path, text) for path, texts in allowed().items() for text in texts]
    for path, text in listed:
        found = list(project_root.glob(path))
        assert found, path
        texts = {file.name: file.read_text("utf-8") for file in found}
        # The linter reads the names of functions as words.
        assert [name for name, read in texts.items() if text not in read and text not in read.replace("_", " ")] == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("page.md", "The page tells\nit."),
        ("data.yaml", "meaning: nobody\n  ends it"),
        ("module.py", '"""Tell a value."""\n'),
        ("module.py", "x = 1  # look\n# at this\n"),
        ("module.py", "def f(x):\n    raise E(f'{x} is no file.')\n"),
        ("module.py", "def told_by(x): ...\n"),
        ("module.py", "told = 1\n"),
        ("script", "# whatever\n"),
    ],
)
def test_a_planted_word_is_found(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    assert len(places([name], tmp_path)) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("page.md", "The flag `--tell` and\n```console\n$ tell\n```\n"),
        ("page.md", "There is no broker. It is no longer read. That there is a gap is reported. He retells history."),
        ("module.py", "count = tell(nobody)\n"),
        ("picture.svg", "<svg>nobody</svg>"),
    ],
)
def test_code_and_plain_words_are_not(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    assert places([name], tmp_path) == []


def test_a_place_names_the_line_of_the_word(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text('"""Return it.\n\nAt\nonce.\n"""\n', "utf-8")
    (place,) = places(["module.py"], tmp_path)
    assert (place.line, place.words) == (3, "At\nonce")


def test_literals_of_tests_are_not_read(tmp_path: Path) -> None:
    source = 'x = "nobody"\ny = """it\'s\n# nobody"""\nz = \'it\\\'s # nobody\'\n'
    (tmp_path / "module.py").write_text(source, "utf-8")
    assert [text for text in texts_of(tmp_path / "module.py", literals=False) if text.text] == []


def test_a_ceiling_only_falls(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("told, told", "utf-8")
    found = places(["a.md"], tmp_path)
    assert over(found, {"a.md": 1}) == {"a.md": (2, 1)}
    assert over(found, {"a.md": 2}) == {}
    assert over(found, {"a.md": 1, "b.md": 1}) == {}, "words may move with their files"
    assert over(found, {"b.md": 2}) == {"a.md": (2, 0)}, "a package without a ceiling has no such word"
    assert '"a.md" = 1\n' in lowered(found, {"a.md": 1})
    assert '"a.md" = 2\n' in lowered(found, {"a.md": 9})


def test_every_rule_names_what_to_write_instead() -> None:
    assert len(rules()) > 20
    assert [rule for rule in rules() if not rule.use] == []


@pytest.mark.parametrize(
    ("subject", "accepted"),
    [("Fence producers", True), ("A" * 72, True), ("A" * 73, False), ("Fence producers.", False), ("fence", False)],
)
def test_ci_checks_the_subjects_of_commits(subject: str, accepted: bool, project_root: Path, tmp_path: Path) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", subject], check=True)
    command = [str(project_root / "scripts" / "commit-subjects"), "2000-01-01T00:00:00Z"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == accepted
    assert accepted or subject in done.stderr
