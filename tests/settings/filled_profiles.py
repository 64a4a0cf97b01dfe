"""Vetted configurations as clients take them: flat, with their placeholders filled."""

from __future__ import annotations

import json
from string import Template

from eosctl.settings.clusters.vetted_profiles import load_vetted_profiles
from eosctl.settings.formats.properties_file import parse_properties


def filled(name: str, **values: str) -> dict[str, str]:
    """Return the settings of a profile.

    Raises:
        KeyError: A placeholder has no value.
    """
    (profile,) = [profile for profile in load_vetted_profiles() if profile.name == name]
    text = Template(profile.text).substitute(values)
    if profile.file.endswith(".json"):
        return {key: json.dumps(value).strip('"') for key, value in json.loads(text).items()}
    return {key: given.text for key, given in parse_properties(text, profile.file).items()}
