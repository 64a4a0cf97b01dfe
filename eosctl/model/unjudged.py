"""What no rule can judge in configurations: settings without a value, and files that are not there."""

from __future__ import annotations

from typing import NamedTuple

from eosctl.model.deployment import Component, Place, Value


class Undecided(NamedTuple):
    """A setting without a value in the files: it lies outside of them, or the key stands alone."""

    component: Component
    value: Value

    def __str__(self) -> str:
        return f"{self.value.place}: {self.value.key} {self.reason}"

    @property
    def reason(self) -> str:
        """Return why no rule can judge it, as a predicate."""
        outside = f"refers to something outside of the file ({self.value.text})"
        return "has no value" if self.value.text is None else outside


class Unseen(NamedTuple):
    """What a container reads, or a kustomization builds, and is not among the files."""

    place: Place
    reads: str

    def __str__(self) -> str:
        return f"{self.place}: {self.reads} is not among the files"
