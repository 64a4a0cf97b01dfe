"""What is nested beyond any configuration is refused by its file, in each format and at each depth."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Mapping
from typing import Final

import pytest

from eosctl.errors import ConfigFileError
from eosctl.settings.deployment.deployment_files import read_components
from eosctl.settings.files.documents import MAX_DEPTH

FILES: Final[Mapping[str, Callable[[int], str]]] = {
    "flow.yaml": lambda levels: "kafka: " + "[" * levels + "]" * levels,
    "block.yaml": lambda levels: "\n".join(" " * level + "kafka:" for level in range(levels)),
    "kafka.json": lambda levels: '{"kafka": ' + "[" * levels + "]" * levels + "}",
    "array.toml": lambda levels: "kafka = " + "[" * levels + "]" * levels,
    "keys.toml": lambda levels: "kafka" + ".a" * levels + " = 1",
    "inline.toml": lambda levels: "kafka = {a" + " . 'a'" * levels + " = 1}",
    "table.toml": lambda levels: "[kafka" + ".a" * levels + "]\nb = 1",
}


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 330, 500, 990, 5_000])
@pytest.mark.parametrize("name", FILES)
def test_deep_nesting_is_refused_by_its_file(name: str, levels: int) -> None:
    with pytest.raises(ConfigFileError, match=f"^{name}:.* nest"):
        read_components(name, FILES[name](levels))


def test_parts_of_a_key_take_no_memory_for_their_square() -> None:
    text = FILES["keys.toml"](20_000)
    tracemalloc.start()
    with pytest.raises(ConfigFileError):
        read_components("keys.toml", text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10_000_000


@pytest.mark.parametrize("levels", [30, 60, 120, 300])
def test_files_within_files_are_refused_when_too_deep(levels: int) -> None:
    inner = "transactional.id: a\nacks: 1\n"
    text = "a:\n" + "".join(f"{'  ' * level}a.yml: |\n" for level in range(1, levels)) + "  " * levels
    text += inner.replace("\n", "\n" + "  " * levels)
    if levels < 50:
        assert [one.role.value for one in read_components("a.yaml", text)] == ["producer"]
        return
    with pytest.raises(ConfigFileError, match="files within files are nested too deeply"):
        read_components("a.yaml", text)
