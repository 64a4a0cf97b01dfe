"""YAML whose scalars hide nothing and hold nothing that a pipeline's runner takes as a command.

PyYAML writes U+202E and its like as they are where Unicode is allowed, and breaks long and multi-line scalars.
"""

from __future__ import annotations

import yaml

from eosctl.render.escaping import is_visible, may_hold_command


class VisibleDumper(yaml.SafeDumper):
    """Writes such a scalar in double quotes, where YAML has escapes for it, and on one line."""

    def analyze_scalar(self, scalar: str) -> yaml.emitter.ScalarAnalysis:
        """Leave only double quotes to a scalar with hidden characters other than line feeds, or with a command."""
        analysis = super().analyze_scalar(scalar)
        if not is_visible(scalar.replace("\n", "")) or may_hold_command(scalar):
            analysis.allow_flow_plain = analysis.allow_block_plain = False
            analysis.allow_single_quoted = analysis.allow_block = False
        return analysis

    def write_double_quoted(self, text: str, split: bool = True) -> None:
        """Escape everything that is not ASCII in such a scalar."""
        allowed, self.allow_unicode = self.allow_unicode, self.allow_unicode and is_visible(text.replace("\n", ""))
        super().write_double_quoted(text, split and not may_hold_command(text))
        self.allow_unicode = allowed
