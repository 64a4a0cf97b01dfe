"""YAML whose scalars hide nothing: PyYAML writes U+202E and its like as they are where Unicode is allowed."""

from __future__ import annotations

import yaml

from eosctl.render.escaping import is_visible


class VisibleDumper(yaml.SafeDumper):
    """Writes a scalar with hidden characters in double quotes, where YAML has escapes for them."""

    def analyze_scalar(self, scalar: str) -> yaml.emitter.ScalarAnalysis:
        """Leave only double quotes to a scalar with hidden characters other than line feeds."""
        analysis = super().analyze_scalar(scalar)
        if not is_visible(scalar.replace("\n", "")):
            analysis.allow_flow_plain = analysis.allow_block_plain = False
            analysis.allow_single_quoted = analysis.allow_block = False
        return analysis

    def write_double_quoted(self, text: str, split: bool = True) -> None:
        """Escape everything that is not ASCII in such a scalar."""
        allowed, self.allow_unicode = self.allow_unicode, self.allow_unicode and is_visible(text.replace("\n", ""))
        super().write_double_quoted(text, split)
        self.allow_unicode = allowed
