"""An explained setting, for the pop-ups of editors."""

from __future__ import annotations

from eosctl.model.reference import Entry
from eosctl.render.escaping import markdown_text


def setting_markdown(setting: Entry) -> str:
    """Render a setting as Markdown: its effect, its defaults by release, and the rules that read it."""
    facts = (f"- {fact.label}: {markdown_text(fact.text)}" for fact in setting.facts)
    return "\n\n".join((f"**{setting.name}**", markdown_text(setting.means), "\n".join(facts)))
