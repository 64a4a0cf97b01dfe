"""One problem: what is wrong, why, its impact, the evidence, what to do, and how to verify the fix."""

from __future__ import annotations

import hashlib

import msgspec

from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence, Evidence, Resource


class Command(msgspec.Struct, frozen=True):
    """A shell command to type, with a word on what it does."""

    line: str
    note: str = ""


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong.

    ``cause`` says why (empty when the check states a plain fact); ``impact`` is the blast radius in words. ``incident``
    groups findings that have one cause. ``facts`` are machine-readable values (snake_case names with unit). ``files``
    are those whose settings were judged together; a running broker or topic stands for a file.
    """

    check_id: str
    title: str
    severity: Severity
    resource: Resource
    message: str
    confidence: Confidence = Confidence.CERTAIN
    cause: str = ""
    impact: str = ""
    evidence: tuple[Evidence, ...] = ()
    remedy: tuple[str, ...] = ()
    commands: tuple[Command, ...] = ()
    verify: tuple[Command, ...] = ()
    references: tuple[str, ...] = ()
    incident: str = ""
    facts: tuple[tuple[str, str | int | bool], ...] = ()
    files: tuple[str, ...] = ()

    @property
    def is_in_file(self) -> bool:
        """Whether its facts have its place in a file: it is about the file, or about what a log's record shows."""
        facts = dict(self.facts)
        return self.resource.kind == "file" or (self.check_id.startswith("logs/") and {"file", "line"} <= facts.keys())

    @property
    def fingerprint(self) -> str:
        """A stable identity over runs: check, resource and incident; 16 hex digits."""
        text = "\0".join((self.check_id, self.resource.kind, self.resource.name, self.incident))
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]
