"""What kind of reader is at the other end of a stream."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from enum import StrEnum
from typing import TextIO

from eosctl.render.page import PLAIN, Style


class ColorChoice(StrEnum):
    """What ``--color`` accepts."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


def style_for(
    stream: TextIO, choice: ColorChoice = ColorChoice.AUTO, environment: Mapping[str, str] = os.environ
) -> Style:
    """Choose a style: wrapped and colored on a terminal, plain elsewhere.

    NO_COLOR and TERM=dumb disable color unless ``--color always`` enables it. Variables that force color in pipelines
    are ignored, because they would put escape codes into captured output.
    """
    interactive = stream.isatty()
    dumb = bool(environment.get("NO_COLOR")) or environment.get("TERM") == "dumb"
    color = choice is ColorChoice.ALWAYS or (choice is ColorChoice.AUTO and interactive and not dumb)
    if not interactive:
        return Style(None, color) if color else PLAIN
    return Style(shutil.get_terminal_size().columns, color)
