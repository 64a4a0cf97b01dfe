"""Problems of configured components: the settings in question, and where they are written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from eosctl.checks.configuration.spelled import spelled
from eosctl.checks.declaration import Problem
from eosctl.findings.finding import Command
from eosctl.model.deployment import TABULATED, Client, Component, Place, Value, ValueSource
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence, Evidence, Resource

INT_MAX: Final = 2_147_483_647
_UNITS: Final = frozenset({"ms", "bytes"})


def problem(
    component: Component,
    values: Sequence[Value],
    message: str,
    *,
    remedy: str,
    impact: str = "",
    cause: str = "",
    severity: Severity | None = None,
    confidence: Confidence = Confidence.CERTAIN,
    commands: tuple[Command, ...] = (),
    accepted: str = "",
) -> Problem:
    """Build a problem of a component.

    Args:
        component: What is configured wrongly.
        values: The settings of the judged relation, the one to change first; its line is the finding's line. One that
            is not written down stands where the component has a setting like it.
        message: What is wrong, with the numbers.
        remedy: What to do, with Kafka's names; the file's own keys take their place.
        impact: What happens otherwise.
        cause: Why, when it is not plain.
        severity: Where it differs from the check's.
        confidence: How sure that is.
        accepted: The value that a repair gives the first setting, where it differs from the check's usual one.
        commands: Commands that help. `eosctl doctor DIR` shows them, `config lint` does not, so the remedy must do.
    """
    place = _place_of(component, values)
    keys = tuple(dict.fromkeys(value.key for value in values))
    return Problem(
        resource=Resource("file", component.name),
        message=_in_words(message, values),
        severity=severity,
        confidence=Confidence.LIKELY if component.others and confidence is Confidence.CERTAIN else confidence,
        cause=cause or _doubt(component),
        impact=impact,
        evidence=tuple(_evidence(component, value) for value in values),
        remedy=(_in_words(spelled(remedy, component), values),),
        commands=commands,
        incident=",".join(keys),
        facts=(
            ("file", place.file),
            ("line", place.line),
            ("keys", ",".join(keys)),
            ("value", values[0].text or "") if values else ("value", ""),
            ("role", component.role.value),
            *((("otherwise", ",".join(component.others)),) if component.others else ()),
            *((("accepted", accepted),) if accepted else ()),
            *((("words", ",".join(map("=".join, values[0].words))),) if values and values[0].words else ()),
        ),
        files=tuple(dict.fromkeys((component.place.file, *(value.file for value in values)))),
    )


def _place_of(component: Component, values: Sequence[Value]) -> Place:
    """Return the line that a reader changes; what is not written stands next to a setting like it, not a neighbor's."""
    written = [value.place for value in values if value.place is not None]
    if not values or values[0].place is not None:
        return written[0] if written else component.place
    own = {value.place for value in component.given.values()}
    if not own.isdisjoint(written) or (written and written[0].file != component.place.file):
        return next((place for place in written if place in own), written[0])
    known = {
        value.place: len(_words_of(value.name) & _words_of(values[0].name))
        for name, value in component.given.items()
        if value.place is not None and value.place.file == component.place.file and name in component.defaults
    }
    likest = max(known.values(), default=0)
    if likest or (written and known):
        return min(place for place, like in known.items() if like == likest)
    return written[0] if written else component.place


def _words_of(name: str) -> set[str]:
    return {*name.split(".")} - _UNITS


def _in_words(text: str, values: Sequence[Value]) -> str:
    """Return a text with the words that the file has for Kafka's: ``acks=WaitForAll``; "it" is the first setting."""
    for number, value in enumerate(values):
        text = _in_words_of(value, text, is_first=number == 0) if value.words else text
    return text


def _in_words_of(value: Value, text: str, *, is_first: bool) -> str:
    words = dict(value.words)
    named = f"{re.escape(value.key)}(?:=| is )" + ("|set it to " if is_first else "")
    several = "|".join(map(re.escape, words))
    return re.sub(rf"({named})({several})\b", lambda found: found[1] + words[found[2]], text)


def _doubt(component: Component) -> str:
    """Return what else the settings may configure; empty where that is certain."""
    if not component.others:
        return ""
    others = " or ".join(role.value for role in component.others)
    return f"This holds if the settings are those of a {component.role.value}; they may be those of a {others}."


def _evidence(component: Component, value: Value) -> Evidence:
    software = "Kafka" if component.client is Client.JAVA else component.client.value
    is_tabulated = component.client in TABULATED
    release = f"{software} {component.release[0]}.{component.release[1]}" if is_tabulated else software
    source = {
        ValueSource.GIVEN: str(value.place) if value.place else "given",
        ValueSource.FRAMEWORK: f"set by {component.inside or component.role}",
        ValueSource.DEFAULT: f"default of {release}",
    }[value.source]
    return Evidence(value.key, "(none)" if value.text is None else value.text, source)


def use_of(value: Value, other: Value) -> str:
    """Return where else an id is used; one line, in a loop or behind an anchor, may belong to several processes."""
    return "used by more than one process" if value.place == other.place else f"also used at {other.place}"
