"""Define suppressions: findings that users accept, with a reason and an end date."""

from __future__ import annotations

import msgspec

from eosctl.model.severity import Severity


class Suppression(msgspec.Struct, frozen=True):
    """One decision to live with findings of a check.

    Attributes:
        check_id: The id of the check.
        scope: Which findings: a pattern with ``*`` and ``?`` over the resource's kind and name (``topic orders-*``),
            its name alone, or the file that a finding is in (``app.properties``), also with the line
            (``app.properties:7``).
        reason: Why.
        expires: The last day on which it holds, ``YYYY-MM-DD``; empty for ever.
    """

    check_id: str
    scope: str
    reason: str
    expires: str = ""


class GateRules(msgspec.Struct, frozen=True):
    """What ``.eosctl.yaml`` says: suppressions, and when a run fails."""

    suppressions: tuple[Suppression, ...] = ()
    fail_on: Severity | None = None
    min_score: int | None = None
