"""The names, numbers, and places of a record's level."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_ENGLISH: Final = {
    "FATAL": "FATAL CRITICAL EMERG EMERGENCY ALERT CRIT PANIC PANI DPANIC FTL F",
    "ERROR": "ERROR SEVERE ERR ERRO EROR FAIL E",
    "WARN": "WARN WARNING WRN W",
    "INFO": "INFO INFORMATION INF LOG OK I",
    "DEBUG": "DEBUG DBG DBUG CONFIG FINE D",
    "TRACE": "TRACE VRB TRCE VERBOSE FINER FINEST",
}
_OTHER_LANGUAGES: Final = {
    "FATAL": "FATALE CRÍTICO CRITIQUE CRITICO KRITISCH 致命 嚴重錯誤 치명적",
    "ERROR": (
        "SCHWERWIEGEND GRAVE FEHLER ERREUR ERRORE FALHA FOUT ОШИБКА HATA BŁĄD "
        "致命的 重大 严重 嚴重 심각 错误 錯誤 エラー 오류 에러"
    ),
    "WARN": (
        "WARNUNG AVERTISSEMENT ADVERTENCIA AVVERTENZA AVVISO AVISO WAARSCHUWING ПРЕДУПРЕЖДЕНИЕ UYARI OSTRZEŻENIE "
        "警告 경고"
    ),
    "INFO": (
        "INFORMATIONEN INFOS INFORMACIÓN INFORMAZIONI INFORMAZIONE INFORMAÇÃO INFORMAÇÕES ИНФОРМАЦИЯ BİLGİ "
        "情報 信息 資訊 정보"
    ),
}
"""The words of java.util.logging, Windows, and programs in German, French, Spanish, Italian, Portuguese, and others."""
_LEVELS: Final = {
    name: level for names in (_ENGLISH, _OTHER_LANGUAGES) for level, joined in names.items() for name in joined.split()
}
_AMBIGUOUS: Final = frozenset(["LOG", "FAIL", "CONFIG", "FINE", "FINER", "FINEST", "ALERT", "PANI", "GRAVE"])
"""Levels that are also other words, such as the kind of a record: only a name of levels makes them one."""
SYSLOG: Final = ("FATAL", "FATAL", "FATAL", "ERROR", "WARN", "NOTICE", "INFO", "DEBUG")
"""The levels of syslog and librdkafka, from 0."""
_TENS: Final = {"10": "TRACE", "20": "DEBUG", "30": "INFO", "40": "WARN", "50": "ERROR", "60": "FATAL"}
"""The levels of bunyan and pino."""
_HUNDREDS: Final = dict(
    zip(
        ("100", "200", "250", "300", "400", "500", "550", "600"),
        ("DEBUG", "INFO", "NOTICE", "WARN", "ERROR", "FATAL", "FATAL", "FATAL"),
        strict=True,
    )
)
"""The levels of Monolog."""
_THOUSANDS: Final = {"5000": "TRACE", "10000": "DEBUG", "20000": "INFO", "30000": "WARN", "40000": "ERROR"}
"""The levels of Logback."""
_PYTHON: Final = {"10": "DEBUG", "20": "INFO", "30": "WARN", "40": "ERROR", "50": "FATAL"}
_OPEN_TELEMETRY: Final = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
"""The levels of OpenTelemetry: four numbers each, from 1."""
_APPLICATION_INSIGHTS: Final = {"0": "TRACE", "1": "INFO", "2": "WARN", "3": "ERROR", "4": "FATAL"}

COLUMNS: Final = (
    *("level", "log.level", "severity", "levelname", "lvl", "loglevel", "log_level", "@l", "@level", "severityText"),
    *("severity_text", "sev", "detected_level", "level.name"),
)
"""The names of values that are the level of a record."""
NUMBERS: Final = (
    *("severityNumber", "severity_number", "levelno", "level_value", "severityLevel", "PRIORITY", "severity.code"),
    *("syslog.severity.code", "log.syslog.severity.code"),
)
"""The names of values that are the number of a level, each in its own scale; words have precedence."""

_FACILITIES: Final = {"FAIL": "ERROR", "ERROR": "ERROR", "FATAL": "FATAL"}
_RDKAFKA: Final = re.compile(
    r"(FAIL|ERROR|FATAL) \[[^\]\n]{0,200}rdkafka#(?:producer|consumer)-\d+\](?!.{0,200}Disconnected \()"
)
"""The facility of librdkafka before its client, as Python's and Go's clients log it. One that reports the end of an
idle connection is of any level."""
_WORD: Final = r"FATAL|CRITICAL|CRIT|ERROR|ERR|SEVERE|WARNING|WARN|WRN|NOTICE|INFORMATION|INFO|INF|DEBUG|DBG|TRACE"
_STAMP: Final = r"\[?\d{4}[-/.]\d\d[-/.]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d)?\]?[\s,:;|-]{1,3}"
_HEAD: Final = re.compile(
    rf"(?P<stamp>{_STAMP})?"
    r"(?:(?P<pri><\d{1,3}>)|%(?P<digit>[0-7])\|)? ?"
    rf"(?:(?P<word>{_WORD})[:|\]>)\t-]|(?P<bare>{_WORD}) +(?=\S)"
    rf"|% ?(?P<sign>{_WORD}):"
    r"|(?:\d{1,19} )?[\[(<|{] ?(?P<spelled>[A-Za-z]{1,11}) ?[\])>|}][ :-]"
    r"|(?P<closed>[A-Za-z]{3,11})\][ :]"
    r"|(?P<letter>[EWF]) (?=\S)|(?P<tag>[EWFIDV])(?:\]|/[\w.-]{1,60}(?:\( *\d+\))?:)[ :]"
    r")?"
)
"""The places of a level at the beginning of a message: a word, a word or a letter in brackets, a number of syslog."""
_ANYWHERE: Final = re.compile(
    rf"\b(?:{_WORD}|FAIL|PANIC)\b|[\[(<|] ?(?i:{_WORD})\b|(?i:\b(?:level|lvl|severity)[=:])"
    r"|^[^\w\n]{0,3}[EWIDF](?:[\]/]|\d{4})"
)
"""A level at any place of a header."""
_PAIR: Final = re.compile(
    r"(?<![\w.-])(?:level|lvl|loglevel|log_level|severity|levelname)(?:=|\": ?)\"?([A-Za-z]{1,11})\b"
)
_STAMPED: Final = re.compile(
    rb"[\s{]|.{0,12}\d\d:\d\d:\d\d|\[?\d{4}-\d\d-\d\d|%[0-7]\||Caused by|Suppressed: |\.\.\. |Traceback "
    rb"|[a-z][\w$]*(?:\.[\w$]+)+(?:Exception|Error)\b|$"
)
"""A line with its own header, a JSON object, or a further line of a record."""
_SEARCHED: Final = 200


class FoundLevel(NamedTuple):
    """A level at the beginning of a message.

    Attributes:
        level: Its name; empty if the message has none there.
        is_number: Whether a digit decides it.
        is_of_line: Whether it stands behind a timestamp, as in a complete line of a log.
        length: The length of a number of syslog before the message, ``<3>``, which is not a part of it.
        is_bare: Whether only a blank separates it from the message, as in "ERROR handling is described below".
    """

    level: str
    is_number: bool = False
    is_of_line: bool = False
    length: int = 0
    is_bare: bool = False


NO_LEVEL: Final = FoundLevel("")


def level_of(text: str) -> str:
    """Return log4j's name for a level."""
    level = text.strip().upper()
    if level.isdecimal():
        if len(level) == 1 and level < "8":
            return SYSLOG[int(level)]
        return _TENS.get(level) or _HUNDREDS.get(level) or _THOUSANDS.get(level) or level
    return _LEVELS.get(level, level)


def known_level(word: str) -> str:
    """Return log4j's name for a level; empty if a word is not the name of one."""
    level = word.strip().upper()
    return level if level == "NOTICE" else _LEVELS.get(level, "")


def is_level(text: str) -> bool:
    """Return whether a text is the name of a level in any language, and hardly anything else."""
    level = text.strip().upper()
    return level == "NOTICE" or (len(level) > 1 and level not in _AMBIGUOUS and level in _LEVELS and level != "OK")


def level_of_number(name: str, value: str) -> str:
    """Return the level of a number by the name of its scale; empty for a number beyond the scale.

    >>> level_of_number("severityNumber", "17"), level_of_number("levelno", "40"), level_of_number("PRIORITY", "4")
    ('ERROR', 'ERROR', 'WARN')
    """
    scale, number = name.lower(), value.strip()
    if not number.isdecimal():
        return known_level(number.upper().removeprefix("SEVERITY_NUMBER_").rstrip("1234567890"))
    if scale in ("severitynumber", "severity_number"):
        return _OPEN_TELEMETRY[(int(number) - 1) // 4] if 0 < int(number) <= 24 else ""
    if scale == "levelno":
        return _PYTHON.get(number, "")
    if scale == "severitylevel":
        return _APPLICATION_INSIGHTS.get(number, "")
    return _THOUSANDS.get(number) or (SYSLOG[int(number)] if len(number) == 1 and number < "8" else "")


def level_of_priority(number: bytes | None) -> str:
    """Return the level in the number before a line of syslog, which has its facility, too; empty without one."""
    return SYSLOG[int(number) % len(SYSLOG)] if number else ""


def find_level(message: str) -> FoundLevel:
    """Return the level at the beginning of a message, for a record that has none elsewhere.

    >>> find_level("ERROR could not commit").level, find_level("[W] slow").level, find_level("an ERROR came").level
    ('ERROR', 'WARN', '')
    """
    if found := _RDKAFKA.match(message):
        return FoundLevel(_FACILITIES[found[1]])
    head = _HEAD.match(message)
    is_of_line = head is not None and head["stamp"] is not None
    for name in ("word", "bare", "sign", "spelled", "closed", "letter", "tag"):
        word = head[name] if head is not None else None
        if word and (level := known_level(word)):
            return FoundLevel(level, is_of_line=is_of_line, is_bare=name in ("bare", "letter") and not is_of_line)
    pair = _PAIR.search(message, 0, _SEARCHED)
    if pair and (level := known_level(pair[1])):
        return FoundLevel(level, is_of_line=is_of_line)
    if head is not None and (number := head["pri"] or head["digit"]):
        length = len(number) if head["pri"] and not is_of_line else 0
        return FoundLevel(SYSLOG[int(number.strip("<>")) % 8], True, is_of_line, length)
    return NO_LEVEL


def names_level(line: str) -> bool:
    """Return whether the beginning of a line has a level, at any place of its header."""
    return _ANYWHERE.search(line, 0, _SEARCHED) is not None


def with_priority(text: bytes, level: str) -> bytes:
    """Return a line with the number of a warning or an error before it, as systemd writes it; others are unchanged.

    A carrier knows the level of a line that has none itself.

    >>> with_priority(b"cannot write", "ERROR"), with_priority(b"INFO started", "ERROR")
    (b'<3>cannot write', b'INFO started')
    """
    number = {"WARN": b"<4>", "ERROR": b"<3>", "FATAL": b"<2>"}.get(level)
    if number is None or _STAMPED.match(text) or names_level(text[:_SEARCHED].decode("utf-8", "replace")):
        return text
    return number + text
