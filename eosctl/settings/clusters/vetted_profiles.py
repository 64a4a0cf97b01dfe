"""The vetted configurations that are shipped with eosctl (``config_profiles``)."""

from __future__ import annotations

from importlib import resources
from typing import Final, NamedTuple

_ENDINGS: Final = (".properties", ".yaml", ".json")


class VettedProfile(NamedTuple):
    """A file of settings with the reason for each; ``intent`` is its first comment."""

    name: str
    file: str
    text: str

    @property
    def intent(self) -> str:
        """What it is for, in a sentence."""
        first = self.text.partition("\n")[0]
        return first.removeprefix("# Intent: ") if first.startswith("# Intent: ") else ""


def load_vetted_profiles() -> tuple[VettedProfile, ...]:
    """Return every vetted configuration, by name."""
    files = [file for file in resources.files("config_profiles").iterdir() if file.name.endswith(_ENDINGS)]
    return tuple(
        VettedProfile(file.name.rpartition(".")[0], file.name, file.read_text(encoding="utf-8"))
        for file in sorted(files, key=lambda file: file.name)
    )
