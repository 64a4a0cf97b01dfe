"""Load the explained terms (``knowledge/terms.toml``), and every other error code of Kafka with its own text."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import Any, Final

from eosctl.model.term import Handling, Term, TermKind
from eosctl.wire.error_codes import ErrorCode

_CLIENTS: Final = (("java", "Java"), ("librdkafka", "librdkafka"), ("kafka_python", "kafka-python"))
CLIENT_ERRORS: Final = "org.apache.kafka.common.errors"


@cache
def load_terms() -> tuple[Term, ...]:
    """Return every term: errors by code, then exceptions, states and concepts in the file's order."""
    data = tomllib.loads((resources.files("eosctl.knowledge") / "terms.toml").read_text(encoding="utf-8"))
    errors = {name: _error(name, body) for name, body in data["error"].items()}
    plain = {code.name: _plain(code) for code in ErrorCode if code is not ErrorCode.NONE}
    by_code = sorted((plain | errors).values(), key=lambda term: term.code or 0)
    exceptions = [_exception(name, body, plain | errors) for name, body in data["exception"].items()]
    states = [_term(name, TermKind.STATE, body) for name, body in data["state"].items()]
    concepts = [_term(name, TermKind.CONCEPT, body) for name, body in data["term"].items()]
    return (*by_code, *exceptions, *states, *concepts)


def _plain(code: ErrorCode) -> Term:
    return Term(code.name, TermKind.ERROR, code.message, int(code), code.retriable)


def _error(name: str, body: dict[str, Any]) -> Term:
    code = ErrorCode[name]
    return Term(
        name=name,
        kind=TermKind.ERROR,
        means=body["means"],
        code=int(code),
        retriable=code.retriable,
        handling=tuple(Handling(client, body[key]) for key, client in _CLIENTS if key in body),
        causes=tuple(body["causes"]),
        next_step=body["next"],
    )


def _exception(name: str, body: dict[str, Any], errors: dict[str, Term]) -> Term:
    behind = [errors[error] for error in body["errors"]]
    package = body.get("package", CLIENT_ERRORS)
    return Term(
        name=name,
        kind=TermKind.EXCEPTION,
        means=body.get("means") or " ".join(error.means for error in behind),
        handling=(Handling("Java", body["kind"]),),
        causes=tuple(body.get("causes") or dict.fromkeys(cause for error in behind for cause in error.causes)),
        next_step=body.get("next") or next((error.next_step for error in behind if error.next_step), ""),
        aliases=(f"{package}.{name}",),
        related=tuple(body["errors"]),
    )


def _term(name: str, kind: TermKind, body: dict[str, Any]) -> Term:
    return Term(
        name=name,
        kind=kind,
        means=body["means"],
        causes=tuple(body.get("causes", ())),
        next_step=body["next"],
        aliases=tuple(body.get("aliases", ())),
    )
