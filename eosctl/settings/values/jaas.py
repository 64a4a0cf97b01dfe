"""The login line of ``sasl.jaas.config``."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from eosctl.errors import ConfigFileError

_TOKEN: Final = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'|([^\s"\'=;]+)|([=;]))')
_CONTROL_FLAGS: Final = frozenset({"required", "requisite", "sufficient", "optional"})


class JaasEntry(NamedTuple):
    """One login module and its options; the values may be secrets."""

    login_module: str
    options: dict[str, str]

    @property
    def module_name(self) -> str:
        """The class name without its package, e.g. ``ScramLoginModule``."""
        return self.login_module.rpartition(".")[2]


def parse_jaas(text: str, origin: str) -> JaasEntry:
    """Parse ``<module> <flag> key="value" ...;``. No part of the text appears in an error: it holds the password.

    Raises:
        ConfigFileError: The text is not a login line.
    """
    words = _split(text, origin)
    if len(words) < 3 or words[-1] != ";" or words[1].lower() not in _CONTROL_FLAGS:
        raise _malformed(origin, "a module, the word required, options and a semicolon are expected")
    options: dict[str, str] = {}
    rest = words[2:-1]
    for index in range(0, len(rest), 3):
        match rest[index : index + 3]:
            case [key, "=", value]:
                options[key] = value
            case _:
                raise _malformed(origin, f"option {index // 3 + 1} is not of the form key=value")
    return JaasEntry(words[0], options)


def _split(text: str, origin: str) -> list[str]:
    words: list[str] = []
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            raise _malformed(origin, f"character {position + 1} is unexpected, perhaps an open quote")
        quoted = match[1] if match[1] is not None else match[2]
        words.append(match[3] or match[4] if quoted is None else re.sub(r"\\(.)", r"\1", quoted))
        position = match.end()
    return words


def _malformed(origin: str, reason: str) -> ConfigFileError:
    return ConfigFileError(
        f"{origin}: sasl.jaas.config is not a login line: {reason}.",
        "Kafka would refuse it too.",
        'Write: org.apache.kafka.common.security.scram.ScramLoginModule required username="..." password="...";',
    )
