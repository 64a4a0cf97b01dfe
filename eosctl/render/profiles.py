"""Connection profiles, with secrets masked."""

from __future__ import annotations

from typing import Final

import msgspec

from eosctl.model.client_config import Profile
from eosctl.model.redaction import setting_text
from eosctl.render.listing import Column


class ProfileItem(msgspec.Struct, frozen=True):
    """A profile; values of secret settings are masked, references to them too."""

    name: str
    protected: bool
    bootstrap_servers: str
    properties: dict[str, str]


PROFILE_COLUMNS: Final[tuple[Column[ProfileItem], ...]] = (
    Column("NAME", lambda item: item.name),
    Column("PROTECTED", lambda item: "yes" if item.protected else "no"),
    Column("BOOTSTRAP-SERVERS", lambda item: item.bootstrap_servers),
    Column("SETTINGS", lambda item: " ".join(f"{k}={v}" for k, v in item.properties.items()), wide=True),
)


def profile_item(profile: Profile) -> ProfileItem:
    """Shape one profile."""
    properties = {key: setting_text(key, given.text) for key, given in profile.properties.items()}
    return ProfileItem(profile.name, profile.protected, properties.get("bootstrap.servers", ""), properties)
