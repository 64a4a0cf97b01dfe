"""Read Chinese: the words of the glossary become the English ones, by the longest word that fits; see `european`."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources
from typing import Final

import msgspec

from eosctl.knowledge.reference.european import in_english

_HAN: Final = re.compile(r"[\u3400-\u9fff]+")
_UNKNOWN: Final = "unknownhan"


def is_chinese(text: str) -> bool:
    """Return whether a text has Chinese characters."""
    return _HAN.search(text) is not None


def translated(text: str) -> str:
    """Return a text with the words of the glossaries in English: Chinese, or German, French, and Spanish.

    What the glossary does not have becomes one unknown word for each run of characters, so that a search knows that it
    did not understand all. A dictionary of general Chinese would split these terms wrongly and take longer to load than
    the whole program.

    >>> translated("事务超时 InitProducerId")
    'transaction timeout InitProducerId'
    """
    if not is_chinese(text):
        return in_english(text)
    glossary = _load().words
    english = _words().sub(lambda match: f" {glossary.get(match[0].lower(), '')} ", text)
    return " ".join(_HAN.sub(f" {_UNKNOWN} ", english).split())


class _Glossary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    common: tuple[str, ...]
    words: dict[str, str]


@cache
def _load() -> _Glossary:
    text = (resources.files("eosctl.knowledge.reference") / "chinese.toml").read_text(encoding="utf-8")
    glossary = msgspec.convert(tomllib.loads(text), _Glossary)
    return msgspec.structs.replace(glossary, words={word.lower(): english for word, english in glossary.words.items()})


@cache
def _words() -> re.Pattern[str]:
    glossary = _load()
    longest_first = sorted((*glossary.words, *glossary.common), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE)
