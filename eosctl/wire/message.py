"""Generated messages: the module of each, and its versions. `eosctl.wire.generated.index` lists them all."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple


class Message(NamedTuple):
    """A message: its generated module, and the versions that share a layout.

    Attributes:
        name: The name of its struct.
        module: The module of its struct, below `eosctl.wire.messages`.
        section: The part of its table: `request`, `response`, `key`, `value`, or `fields`.
        first: The first version.
        last: The last version.
        flexible_from: The first version with tagged fields and compact lengths (KIP-482); None without such a version.
        layouts: The first version of each layout, ascending.
    """

    name: str
    module: str
    section: str
    first: int
    last: int
    flexible_from: int | None
    layouts: tuple[int, ...]

    def codec_module(self, version: int) -> str:
        """Return the module with the codec of a version.

        Raises:
            KeyError: The message does not have this version.
        """
        if not self.first <= version <= self.last:
            raise KeyError((self.name, version))
        layout = self.layouts[bisect_right(self.layouts, version) - 1]
        return f"eosctl.wire.generated.{codec_name(self.module, self.section)}_v{layout}"


class Api(NamedTuple):
    """An API: its messages, and the stable versions that releases of Kafka serve."""

    name: str
    request: Message
    response: Message
    served: dict[str, tuple[int, int]]


def codec_name(module: str, section: str) -> str:
    """Return the name of a codec's module, without package and version: the name of its struct's module."""
    name = module.replace(".", "_")
    return name if section == "fields" else f"{name}_{section}"
