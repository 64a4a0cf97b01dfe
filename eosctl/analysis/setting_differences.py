"""Differences in meaning between two configurations, with resolved defaults."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Final

from eosctl.model.deployment import Component, Deployment, Difference, Value
from eosctl.model.named_secrets import is_secret_name
from eosctl.model.redaction import SETTING_MASK, secret_spans, setting_text
from eosctl.model.setting_names import shown_key

_LACKING: Final = "not in the file"
# Shorter ones are words that stand in other settings, too.
_SHORTEST_SECRET: Final = 6


def differences(left: Deployment, right: Deployment) -> tuple[Difference, ...]:
    """Pair components by role, in order, and return the settings with different meanings.

    The settings of a component that the other side lacks differ from nothing.
    """
    found: list[Difference] = []
    secrets = frozenset(_secrets((*left.components, *right.components)))
    for role in dict.fromkeys(component.role for component in (*left.components, *right.components)):
        for one, other in zip_longest(left.of(role), right.of(role)):
            if one is None or other is None:
                found += _on_one_side(one, other, secrets)
            else:
                found += _between(one, other, secrets)
    return tuple(dict.fromkeys(found))


def _secrets(components: Iterable[Component]) -> Iterator[str]:
    """Yield the secrets of the settings that are secret by name; an anchor of YAML may have another name."""
    for component in components:
        for name, value in component.given.items():
            if value.text is not None and is_secret_name(name):
                parts = (value.text[start:end] for start, end in secret_spans(value.text))
                yield from (text for text in (value.text, *parts) if len(text) >= _SHORTEST_SECRET and "${" not in text)


def _shown(name: str, text: str | None, secrets: frozenset[str]) -> str:
    """Return a value for people, masked if it holds a secret of another setting."""
    if text is not None and any(secret in text for secret in secrets):
        return SETTING_MASK
    return setting_text(name, text)


def _on_one_side(left: Component | None, right: Component | None, secrets: frozenset[str]) -> Iterator[Difference]:
    for component in filter(None, (left, right)):
        for name, value in sorted(component.given.items()):
            text, source = _shown(name, value.text, secrets), _from(value, component)
            yield Difference(
                role=component.role.value,
                setting=shown_key(name),
                left=setting_text(name, None) if left is None else text,
                right=setting_text(name, None) if right is None else text,
                left_source=_LACKING if left is None else source,
                right_source=_LACKING if right is None else source,
            )


def _between(left: Component, right: Component, secrets: frozenset[str]) -> Iterator[Difference]:
    names = sorted({*left.given, *right.given, *left.framework, *right.framework, *left.defaults, *right.defaults})
    for name in names:
        one, other = left.value(name), right.value(name)
        if _meaning(one) != _meaning(other):
            yield Difference(
                role=left.role.value,
                setting=shown_key(name),
                left=_shown(name, one.text, secrets),
                right=_shown(name, other.text, secrets),
                left_source=_from(one, left),
                right_source=_from(other, right),
            )


def _meaning(value: Value) -> object:
    """Return a normal form of a value: numbers and booleans by value."""
    if value.number is not None:
        return value.number
    if value.flag is not None:
        return value.flag
    return value.text.strip() if value.text is not None else None


def _from(value: Value, component: Component) -> str:
    if value.place is not None:
        return str(value.place)
    return f"{value.source.value} {component.release[0]}.{component.release[1]}"
