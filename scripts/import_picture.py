"""Draw the imports between packages (docs/images/imports.svg) from the sources and the layers of pyproject.toml.

Every package below imports `model`, and all of them may import the modules `errors`, `text`, `whole_file`,
`state_lines`, `user_folders`, `input_file`, `temporary_folders`, `waiting_threads`, and `http_deadline`: these arrows
are left out, and so is an import that a longer path of arrows implies. The frame of the program (`cli` and
`command_line`) and the servers, which it starts, are left out, too. `make docs` writes the file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from scripts.import_cycles import import_graph

SPARK: Final = "spark_log_analytics"
#: Imported by all packages, by none, or by commands alone.
NOT_DRAWN: Final = frozenset(
    {
        "cli",
        "__main__",
        "command_line",
        "servers",
        "model",
        "errors",
        "text",
        "whole_file",
        "state_lines",
        "user_folders",
        "input_file",
        "temporary_folders",
        "waiting_threads",
        "http_deadline",
        "demo",
        "testing",
    }
)
#: The layer in whose row spark_log_analytics is drawn: above its imports, below its importers.
NEXT_TO_SPARK: Final = "lab"
MOST_PACKAGES: Final = 20

_WIDTH, _ROW, _BOX, _MARGIN = 760, 74, 30, 20
_LETTER: Final = 7.6


def layers(root: Path) -> list[list[str]]:
    """Return the drawn packages, row by row from the top."""
    contracts = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    order = next(contract for contract in contracts if contract["id"] == "order")
    rows = []
    for layer in order["layers"]:
        row = [name for word in layer.split("|") if (name := word.strip()) not in NOT_DRAWN]
        if NEXT_TO_SPARK in row:
            row.append(SPARK)
        if row:
            rows.append(row)
    return rows


def package_imports(root: Path, drawn: Sequence[str]) -> dict[str, frozenset[str]]:
    """Return the drawn packages that each of them imports."""
    found: dict[str, set[str]] = {name: set() for name in drawn}
    for module, imported in import_graph(root).items():
        importer = _package(module)
        if importer in found:
            found[importer] |= {_package(name) for name in imported} & found.keys() - {importer}
    return {name: frozenset(imported) for name, imported in found.items()}


def direct_only(imports: Mapping[str, frozenset[str]]) -> list[tuple[str, str]]:
    """Return the imports without those that a longer path implies."""
    reached: dict[str, frozenset[str]] = {}

    def reach(name: str) -> frozenset[str]:
        if name not in reached:
            reached[name] = frozenset().union(*({one} | reach(one) for one in imports[name]))
        return reached[name]

    return [
        (importer, name)
        for importer, names in imports.items()
        for name in sorted(names)
        if not any(name in reach(other) for other in names - {name})
    ]


def upward(rows: Sequence[Sequence[str]], imports: Mapping[str, frozenset[str]]) -> list[tuple[str, str]]:
    """Return the imports that go up, or sideways within a row."""
    level = {name: number for number, row in enumerate(rows) for name in row}
    return [(one, other) for one, names in imports.items() for other in sorted(names) if level[other] <= level[one]]


def render_picture(root: Path) -> str:
    """Render the picture.

    Raises:
        ValueError: It would have too many packages, or an arrow that does not go down.
    """
    rows = layers(root)
    drawn = [name for row in rows for name in row]
    imports = package_imports(root, drawn)
    if len(drawn) > MOST_PACKAGES:
        raise ValueError(f"{len(drawn)} packages are more than one picture can show")
    if wrong := upward(rows, imports):
        raise ValueError(f"{wrong[0][0]} imports {wrong[0][1]}, which is not below it")
    height = _MARGIN * 2 + _ROW * (len(rows) - 1) + _BOX
    places = dict(_places(rows))
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="monospace" font-size="12">',
        "<title>Which packages import which</title>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
        '<g fill="none" stroke="#7a8794" stroke-width="1">',
        *(_arrow(places[importer], places[name]) for importer, name in direct_only(imports)),
        "</g>",
        *(_box(name, *places[name]) for name in drawn),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _package(module: str) -> str:
    first, _, rest = module.partition(".")
    return first if first == SPARK else rest.partition(".")[0]


def _places(rows: Sequence[Sequence[str]]) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield the center of each box; rows are shifted, so that arrows pass between boxes."""
    for number, row in enumerate(rows):
        shift = (-110, 110, 0)[number % 3] if len(row) == 1 else 0
        for place, name in enumerate(row):
            yield name, (_WIDTH * (place + 1) / (len(row) + 1) + shift, _MARGIN + _ROW * number + _BOX / 2)


def _box(name: str, x: float, y: float) -> str:
    width = len(name) * _LETTER + 20
    return (
        f'<rect x="{x - width / 2:.0f}" y="{y - _BOX / 2:.0f}" width="{width:.0f}" height="{_BOX}" rx="5" '
        f'fill="#eef3f8" stroke="#33506b"/><text x="{x:.0f}" y="{y + 4:.0f}" text-anchor="middle" '
        f'fill="#16202a">{name}</text>'
    )


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    (x1, y1), (x2, y2) = start, end
    top, bottom = y1 + _BOX / 2, y2 - _BOX / 2
    bend = (bottom - top) / 2
    return (
        f'<path d="M{x1:.0f} {top:.0f} C{x1:.0f} {top + bend:.0f} {x2:.0f} {bottom - bend:.0f} {x2:.0f} {bottom:.0f}'
        f' m-4 -6 l4 6 l4 -6"/>'
    )
