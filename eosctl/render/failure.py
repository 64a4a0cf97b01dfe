"""An error as a JSON object, for programs that read standard output."""

from __future__ import annotations

import msgspec

from eosctl.errors import EosctlError
from eosctl.render.machine import render_json

SCHEMA = "eosctl.error"


class FailureView(msgspec.Struct, frozen=True):
    """What happened, why, and what to do; ``type`` is the error's class."""

    schema: str
    schema_version: int
    type: str
    what: str
    why: str
    next_step: str
    exit_code: int


def render_failure(error: EosctlError) -> str:
    """Render an error."""
    return render_json(
        FailureView(SCHEMA, 1, type(error).__name__, error.what, error.why, error.next_step, error.exit_code)
    )
