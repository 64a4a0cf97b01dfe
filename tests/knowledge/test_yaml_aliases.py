"""The aliases of a YAML file do not multiply its values, wherever it is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from eosctl.errors import ConfigFileError
from eosctl.knowledge.small_files import load_yaml, load_yaml_documents
from eosctl.knowledge.yaml_aliases import MAX_REPEATED, check_aliases
from eosctl.settings.clusters.profiles import read_profiles
from eosctl.settings.files.documents import parse_documents

LISTS: Final = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))
MERGES: Final = "a0: &a0 {x: 1}\n" + "".join(f"a{n}: &a{n}\n  <<: [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))
OF_ITSELF: Final = ("a: &a [*a]\n", "a: &a\n  b: *a\n", "a: &a\n  <<: *a\n")


@pytest.mark.parametrize("text", [LISTS, MERGES, *OF_ITSELF])
def test_a_file_that_multiplies_is_refused(text: str, tmp_path: Path) -> None:
    for read in (load_yaml, load_yaml_documents):
        with pytest.raises(yaml.YAMLError, match="alias"):
            read(text)
    with pytest.raises(ConfigFileError, match="alias"):
        parse_documents("a.yaml", text)
    profiles = tmp_path / "profiles.yaml"
    profiles.write_text(text + "profiles: {}\n", "utf-8")
    with pytest.raises(ConfigFileError, match=r"profiles\.yaml"):
        read_profiles(profiles)


def test_ordinary_aliases_are_read() -> None:
    text = "a: &a {x: [1, 2]}\nb:\n  <<: *a\n  y: *a\nc: [*a, *a]\n"
    assert load_yaml(text) == {"a": (a := {"x": [1, 2]}), "b": a | {"y": a}, "c": [a, a]}


@given(st.lists(st.lists(st.integers(0, 11), max_size=6), min_size=1, max_size=12))
def test_exactly_what_repeats_too_much_is_refused(lines: list[list[int]]) -> None:
    """Each line is a list of values and of aliases of earlier lines."""
    sizes: list[int] = []
    text = ""
    for at, parts in enumerate(lines):
        aliases = [part for part in parts if part < at]
        text += f"- &a{at} [{', '.join(f'*a{part}' if part < at else 'x' for part in parts)}]\n"
        sizes.append(1 + len(parts) - len(aliases) + sum(sizes[part] for part in aliases))
    own = 1 + sum(1 + sum(part >= at for part in parts) for at, parts in enumerate(lines))
    assert _is_refused(yaml.compose(text)) == (1 + sum(sizes) - own > MAX_REPEATED)


def _is_refused(root: Any) -> bool:
    try:
        check_aliases(root)
    except yaml.YAMLError:
        return True
    return False
