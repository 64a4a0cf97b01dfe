"""Files of folders that set what exactly-once depends on, and are not read.

They have other endings, are results of builds, or are classes that set it in their code.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from eosctl.errors import ConfigFileError
from eosctl.settings.files.documents import format_of
from eosctl.settings.files.file_texts import SKIPPED_FOLDERS, is_of_others, read_text
from eosctl.settings.programs.unread_lines import sets_setting

BUILT: Final = frozenset({"target", "build"})
"""Folders that are not read, as they hold copies of what is; the other ones hold programs of others."""
_LONGEST: Final = 256 * 1024
# A configuration under a name of its own: behind its ending is a place or a copy, or its ending says so.
_CONFIGURATION: Final = re.compile(
    r"\.(?:properties|ya?ml|json|toml|conf|ini|env|config)(?:[._-][\w-]+|~)+$|\.(?:props?|property|cnf|envrc|list)$"
    r"|(?:^|[_.-])(?:settings?|config(?:uration)?|kafka)[\w.-]*\.(?:py|rb|php|js|cjs|mjs|ts|kts|groovy|exs)$",
    re.IGNORECASE,
)
_CLASS: Final = re.compile(r"^(?=\w*(?:Kafka|Producer|Consumer|Streams))\w++\.(?:java|kt|scala)$")
_OF_TESTS: Final = ("/src/test/", "/src/it/", "/src/integrationTest/", "/test/")
_IN_CODE: Final = re.compile(
    r"\b(?:Producer|Consumer|Streams)Config\.(?:ACKS|ENABLE_IDEMPOTENCE|TRANSACTIONAL_ID|TRANSACTION_TIMEOUT"
    r"|ISOLATION_LEVEL|ENABLE_AUTO_COMMIT|GROUP_INSTANCE_ID|PROCESSING_GUARANTEE)_CONFIG\b"
)
"""Constants of the settings on which exactly-once depends; their class names some of them without a unit."""
_OF_NO_PROGRAM: Final = re.compile(
    r"[._-](?:md|rst|html?|patch|diff|log|lock|gz|zip|map|sha\d+|md5|asc|sig|test|spec)(?:$|\.)"
)


def left_out(paths: Sequence[Path], read: Iterable[str]) -> Iterator[str]:
    """Yield files below folders that set Kafka's settings and were not read, by path.

    A file of a folder of build results is not named if the same text was read under the same name.

    Args:
        paths: The files and folders that were given.
        read: The files that were read.
    """
    by_name: dict[str, list[str]] = {}
    for file in read:
        by_name.setdefault(file.rpartition("/")[2], []).append(file)
    for folder in paths:
        if folder.is_dir():
            for path in sorted(_candidates(folder)):
                text = _text_of(path)
                if text is None or is_of_others(str(path), text) or not _sets(path, text):
                    continue
                if not any(_text_of(Path(other)) == text for other in by_name.get(path.name, ())):
                    yield str(path)


def _sets(path: Path, text: str) -> bool:
    """Return whether a file sets what exactly-once depends on; an application's class does so by constants, too."""
    return sets_setting(text) or (_CLASS.search(path.name) is not None and _IN_CODE.search(text) is not None)


def _candidates(folder: Path) -> Iterator[Path]:
    for top, folders, names in os.walk(folder):
        is_built = not BUILT.isdisjoint(Path(top).relative_to(folder).parts)
        folders[:] = [name for name in folders if name in BUILT or (name not in SKIPPED_FOLDERS and name[:2] != "..")]
        for name in names:
            has_format = format_of(f"{top}/{name}") is not None
            is_class = not is_built and _CLASS.search(name) is not None and not _is_of_tests(f"{top}/")
            if (is_built and has_format) or (not has_format and (is_class or _is_configuration(name))):
                yield Path(top, name)


def _is_of_tests(folder: str) -> bool:
    return any(part in folder for part in _OF_TESTS)


def _is_configuration(name: str) -> bool:
    return _CONFIGURATION.search(name) is not None and _OF_NO_PROGRAM.search(name.lower()) is None


def _text_of(path: Path) -> str | None:
    try:
        return read_text(path) if path.stat().st_size <= _LONGEST else None
    except (ConfigFileError, OSError):
        return None
