"""Pages from templates: every value is escaped, and a name without a value is an error."""

from __future__ import annotations

from typing import Any

from eosctl.render.escaping import lines_text, without_commands_within


def render_template(name: str, **values: Any) -> str:
    """Render a template of ``eosctl/render/templates`` as a whole page.

    Args:
        name: The file.
        values: What the template names; `markupsafe.Markup` is the only text that is not escaped.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("eosctl.render", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_on_one_line,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return lines_text(environment.get_template(name).render(**values))


def _on_one_line(value: Any) -> Any:
    """Write line feeds and commands of a text with references: a browser shows the same, and no line acts."""
    from markupsafe import Markup, escape

    if not isinstance(value, str) or isinstance(value, Markup) or not ("\n" in value or "##" in value):
        return value
    return Markup(without_commands_within(str(escape(value)), "&#35;").replace("\n", "&#10;"))
