"""Programs that tell their transactional id at their start in words of their own: servers tell which word is one."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Set
from typing import Final

from eosctl.model.log_event import SourceSummary

_WORD: Final = re.compile(r"[^\s,;|=<>()\[\]{}\"'`]+")


def announced_ids(
    sources: Iterable[SourceSummary], log_of_file: Callable[[str], str], ids: Set[str]
) -> Mapping[str, str]:
    """Return the transactional id of each log that begins with the name of just one.

    Args:
        sources: The files.
        log_of_file: Names the log that a file is a part of.
        ids: The transactional ids that coordinators know.
    """
    named: dict[str, set[str]] = defaultdict(set)
    for source in sources:
        words = {form for word in _WORD.findall(source.beginning) for form in (word, word.strip(".:!?"))}
        named[log_of_file(source.file)] |= words & ids
    return {log: next(iter(found)) for log, found in named.items() if len(found) == 1}
