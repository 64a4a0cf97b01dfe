"""Pages from templates: every value is escaped, and a name without a value is an error."""

from __future__ import annotations

from typing import Any

from eosctl.render.escaping import lines_text


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
    """Write the line feeds of a text as references: a browser shows the same, and no name begins a line of the page."""
    from markupsafe import Markup, escape

    is_text = isinstance(value, str) and not isinstance(value, Markup)
    return Markup(escape(value).replace("\n", "&#10;")) if is_text and "\n" in value else value
