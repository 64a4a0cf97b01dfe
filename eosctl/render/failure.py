"""An error as a JSON object, for programs that read standard output."""

from __future__ import annotations

import msgspec

from eosctl.errors import EosctlError
from eosctl.render.envelope import schema_version_of
from eosctl.render.machine import render_json


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
        FailureView(
            schema="eosctl.error",
            schema_version=schema_version_of("error"),
            type=type(error).__name__,
            what=error.what,
            why=error.why,
            next_step=error.next_step,
            exit_code=error.exit_code,
        )
    )
