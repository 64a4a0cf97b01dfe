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
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return lines_text(environment.get_template(name).render(**values))
