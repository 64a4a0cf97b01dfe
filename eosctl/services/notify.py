"""Send what a run found to a webhook; Slack, Mattermost, and others accept the same JSON object."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

import msgspec

from eosctl.collect.metrics.endpoint_http import fetch
from eosctl.errors import EosctlError, UsageError
from eosctl.findings.diagnosis import Diagnosis
from eosctl.findings.fleet import ClusterRow
from eosctl.model.client_config import Given
from eosctl.model.redaction import redact_text
from eosctl.settings.values.references import has_reference, resolve_references

TIMEOUT_MS: Final = 10_000
MOST_FINDINGS: Final = 10
_OPTION: Final = "--notify"
#: Webhooks have their secret in the path.
_LONG_WORD: Final = re.compile(r"[\w-]{16,}")


def resolve_address(text: str, environment: Mapping[str, str] = os.environ) -> str:
    """Return the address of a webhook; one with a secret must be a reference to a variable or a file.

    Raises:
        UsageError: It holds a secret in clear text, or is not an address.
        ConfigFileError: The variable or the file is missing.
    """
    address = resolve_references(Given(text, _OPTION), environment).strip()
    try:
        parts = urlsplit(address)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address:
        raise UsageError(f"{_OPTION} is not the address of a webhook.", "It begins with https://.", "Correct it.")
    is_secret = parts.username is not None or bool(parts.query) or _LONG_WORD.search(parts.path) is not None
    if is_secret and not has_reference(text):
        raise UsageError(
            f"{_OPTION} holds a secret in clear text.",
            "Other users of this computer can see the arguments of its processes.",
            f"Keep the address in a file or a variable: {_OPTION} '${{file:/run/secrets/webhook}}'",
        )
    return address


def send(address: str, lines: Sequence[str]) -> None:
    """Post lines as one message.

    Raises:
        EosctlError: The webhook does not accept it; the error names the host alone.
    """
    text = redact_text("\n".join(lines)).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    try:
        fetch(address, TIMEOUT_MS, body=msgspec.json.encode({"text": text}))
    except EosctlError as error:
        # The whole address may be a secret.
        raise EosctlError(
            f"The webhook at {urlsplit(address).hostname} did not accept the message.",
            error.why.replace(address, "its address"),
            "Check the address, and the program behind it.",
        ) from None


def diagnosis_lines(diagnosis: Diagnosis, changes: Sequence[str] = ()) -> list[str]:
    """Return a diagnosis as a message: the headline, what changed, and the worst findings."""
    grade = diagnosis.grade
    score = f"{grade.letter} ({grade.score}/100)" if grade.is_given else "none"
    findings = [
        f"{one.severity.value.upper()} {one.check_id} {one.title}: {one.resource}. {one.message}"
        for one in diagnosis.findings[:MOST_FINDINGS]
    ]
    return [f"eosctl doctor: cluster {diagnosis.cluster_id or 'not read'}, grade {score}", *changes, *findings]


def fleet_lines(rows: Sequence[ClusterRow]) -> list[str]:
    """Return the diagnoses of several clusters as a message: a line for each that needs attention."""
    return [
        f"{row.profile}: not read: {row.failure}"
        if row.failure
        else f"{row.profile}: grade {row.grade}, {row.critical} critical, {row.error} error, {row.warning} warning. "
        f"{row.first}"
        for row in rows
        if row.exit_code
    ]
