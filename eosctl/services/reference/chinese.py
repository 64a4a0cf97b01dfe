"""Read Chinese: the words of the glossary become the English ones, by the longest word that fits."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Final

_HAN: Final = re.compile(r"[\u3400-\u9fff]")


def is_chinese(text: str) -> bool:
    """Return whether a text has Chinese characters."""
    return _HAN.search(text) is not None


def translated(text: str) -> str:
    """Return a text with the Chinese words of the glossary in English; characters that it does not have are left out.

    A dictionary of general Chinese would split these terms wrongly and take longer to load than the whole program.

    >>> translated("事务超时 InitProducerId")
    'transaction timeout InitProducerId'
    """
    if not is_chinese(text):
        return text
    glossary = _glossary()
    english = _words().sub(lambda match: f" {glossary[match[0].lower()]} ", text)
    return " ".join(_HAN.sub(" ", english).split())


@cache
def _glossary() -> Mapping[str, str]:
    text = (resources.files("eosctl.knowledge.reference") / "chinese.toml").read_text(encoding="utf-8")
    words: dict[str, str] = tomllib.loads(text)["words"]
    return {word.lower(): english for word, english in words.items()}


@cache
def _words() -> re.Pattern[str]:
    longest_first = sorted(_glossary(), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE)
