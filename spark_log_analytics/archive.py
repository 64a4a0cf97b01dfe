"""Pack the code that executors need into one archive, for ``--py-files`` or Connect's ``addArtifacts``."""

from __future__ import annotations

import ast
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

import eosctl
import spark_log_analytics


class Shipment(NamedTuple):
    """The content of an archive: modules with all their imports, and files that are loaded by a name built at run time.

    Attributes:
        modules: The modules to start from.
        loaded_by_name: Patterns of files that no import statement names.
    """

    modules: tuple[str, ...]
    loaded_by_name: tuple[str, ...] = ()


SHIPPED: Final = Shipment(
    tuple(
        f"spark_log_analytics.{name}"
        for name in ("main", "datasource", "topics.datasource", "digests", "chains", "trace_job", "session")
    )
)
"""The log scan and its judge: pure Python, so any platform and Python from 3.11 on can run it."""

SHIPPED_FOR_DATA: Final = Shipment(
    (*SHIPPED.modules, *(f"spark_log_analytics.kafka_data.{name}" for name in ("main", "job", "local"))),
    (
        "eosctl/wire/messages/internal/**/*.py",
        "eosctl/wire/generated/internal_*.py",
        "eosctl/wire/schema/record/**/*.msg",
    ),
)
"""Also the job over Kafka's files; its compiled packages are in its environment."""


def build_archive(target: Path, shipment: Shipment = SHIPPED) -> Path:
    """Write the archive atomically.

    Args:
        target: The file.
        shipment: The content.

    Raises:
        OSError: The file cannot be written.
    """
    files = shipped_files(shipment)
    # Python finds a package without __init__.py in an archive only if the folder itself has an entry.
    folders = {f"{parent.as_posix()}/" for name in files for parent in PurePosixPath(name).parents if parent.name}
    temporary = target.with_name(f"{target.name}.tmp")
    with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
        for folder in sorted(folders):
            archive.writestr(folder, b"")
        for name, file in sorted(files.items()):
            archive.write(file, name)
    temporary.replace(target)
    return target


def shipped_files(shipment: Shipment) -> dict[str, Path]:
    """Return the files of a shipment by their names in the archive.

    Imports inside functions count, those for type checkers do not. The data files in a module's folder are included,
    and those of other packages that ``files(PACKAGE).joinpath(NAME)`` reads.
    """
    roots = {Path(str(package.__file__)).parents[1] for package in (eosctl, spark_log_analytics)}
    known = {
        _module(file.relative_to(root)): (root, file)
        for root in roots
        for package in ("eosctl", "spark_log_analytics")
        for file in (root / package).rglob("*.py")
    }
    matched = {file: root for root in roots for pattern in shipment.loaded_by_name for file in root.glob(pattern)}
    waiting = [*shipment.modules, *(_module(file.relative_to(root)) for file, root in matched.items())]
    reached: set[str] = set()
    while waiting:
        module = waiting.pop()
        if module in reached or module not in known:
            continue
        reached.add(module)
        root, file = known[module]
        waiting += [module.rpartition(".")[0], *_imported(file)]
        for package, name in _data_read(file):
            waiting.append(package)
            matched[root.joinpath(*package.split("."), name)] = root
    files = dict(matched) | {known[module][1]: known[module][0] for module in reached}
    data_files = {data: root for file, root in files.items() for data in file.parent.iterdir() if _is_data(data)}
    return {file.relative_to(root).as_posix(): file for file, root in (files | data_files).items()}


def _module(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def _is_data(path: Path) -> bool:
    return path.is_file() and path.suffix in {".toml", ".properties"}


def _imported(file: Path) -> Iterator[str]:
    """Yield the names that a file imports, both as modules and as members of modules."""
    waiting: list[ast.AST] = [ast.parse(file.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            waiting += node.orelse
        else:
            waiting += ast.iter_child_nodes(node)


def _data_read(file: Path) -> Iterator[tuple[str, str]]:
    """Yield package and name of the data files that a module reads with ``importlib.resources.files``."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(
                func=ast.Attribute(
                    value=ast.Call(func=ast.Name(id="files"), args=[ast.Constant(value=str(package))]), attr="joinpath"
                ),
                args=[ast.Constant(value=str(name))],
            ):
                yield package, name
