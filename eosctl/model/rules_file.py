"""The form of ``.eosctl.yaml``, for editors: `eosctl schema rules` prints it, `settings.gate_file` reads such files."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from eosctl.model.severity import Severity

CheckId = Annotated[
    str,
    Meta(
        pattern=(
            r"^(EOS-[A-Z]{3}-[0-9]{3}|(?!eos-)[a-z0-9]+(-[a-z0-9]+)*|(fsck|runbook|verify)/[a-z-]+|logs/\w+"
            r"|checklist/[^/\s]+/\S+)$"
        ),
        description="Id or name of a check, or of a finding without a check: fsck/..., logs/..., checklist/...",
        examples=["EOS-BRK-002", "hanging-transaction", "logs/producer_fenced"],
    ),
]


class RuleSuppression(Struct, frozen=True, forbid_unknown_fields=True):
    """Findings that the project accepts."""

    id: CheckId
    reason: Annotated[str, Meta(min_length=1, description="Why they are accepted; shown in every report.")]
    scope: Annotated[
        str,
        Meta(
            description="Which findings, with * and ?: kind and name of the resource, its name, a file, or file:line.",
            examples=["topic orders-*", "app.properties:7"],
        ),
    ] = "*"
    expires: Annotated[
        str | None,
        Meta(description="Last day, YYYY-MM-DD. Default: never.", extra_json_schema={"format": "date"}),
    ] = None


class RulesFile(Struct, frozen=True, forbid_unknown_fields=True):
    """Suppressions of a project, and when a run fails."""

    suppressions: tuple[RuleSuppression, ...] = ()
    fail_on: Annotated[
        Severity | None, Meta(description="Lowest severity that ends with exit code 3, unless an option names one.")
    ] = None
    min_score: Annotated[
        Annotated[int, Meta(ge=0, le=100)] | None,
        Meta(description="Lowest score of doctor that passes, unless an option names one."),
    ] = None
