"""EOS-CFG-167."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.clients import exactly_once_streams, head_of_ids
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Deployment, Role, Value
from eosctl.model.placeholders import known_head, may_begin_with
from eosctl.model.severity import Severity

_TRANSACTIONAL_ID = "transactionalid"


@check(
    "EOS-CFG-167",
    "Access rule grants a prefix of transactional ids as one id",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.ACCESS_RULE,),
    reads=(
        "resource.type",
        "resource.name",
        "pattern.type",
        "transactional.id",
        "sink.transactional-id-prefix",
        "application.id",
    ),
    tags=("security",),
    references=("KIP-98", "KIP-290"),
)
def literal_access_rule_for_a_prefix(case: Case) -> Iterator[Problem]:
    """Find literal access rules on transactional ids whose name is only the beginning of an application's ids.

    What it checks:
        Literal rules that allow a transactional id equal to Spring's transaction-id-prefix, to the prefix of a Flink
        sink, to the application.id of Kafka Streams with exactly-once, or to what stands before the placeholder in
        one of them or in a transactional.id, where no prefixed rule covers the ids.

    Why it matters for exactly-once:
        These frameworks append to the prefix. The broker refuses each id that they make with
        TRANSACTIONAL_ID_AUTHORIZATION_FAILED, so no transaction begins.

    Example:
        resource: {type: transactionalId, name: pay-} next to spring.kafka.producer.transaction-id-prefix=pay-.

    Fix:
        Grant the prefix: patternType: prefix (kafka-acls.sh: --resource-pattern-type prefixed).

    Verify:
        eosctl config lint reports it no longer.
    """
    rules = [rule for rule in case.deployment.of(Role.ACCESS_RULE) if _is_allowed_id(rule)]
    granted = [name for rule in rules if _pattern(rule) != "literal" and (name := rule.word("resource.name"))]
    for prefix, maker in _prefixes(case.deployment):
        given = (prefix.text or "").strip()
        text, head = known_head(given), head_of_ids(given, maker)
        if not text or any(may_begin_with(head, name) for name in granted):
            continue
        for rule in rules:
            named = rule.value("resource.name")
            if named.word in (text, known_head(head)) and _pattern(rule) == "literal":
                yield problem(
                    rule,
                    (named, prefix),
                    f"{named.word} is the beginning of the ids of an application, not an id.",
                    impact="The application is refused when it initializes its producer.",
                    remedy=f"Set patternType: prefix for {named.word}.",
                )


def _is_allowed_id(rule: Component) -> bool:
    kind = (rule.word("resource.type") or "").lower().replace("_", "")
    return kind == _TRANSACTIONAL_ID and (rule.word("permission") or "allow").lower() != "deny"


def _pattern(rule: Component) -> str:
    return (rule.word("pattern.type") or "literal").lower()


def _prefixes(deployment: Deployment) -> Iterator[tuple[Value, Role | None]]:
    """Yield the given values to which a framework appends when it makes transactional ids, and its role."""
    for producer in deployment.of(Role.PRODUCER):
        identity = producer.value("transactional.id")
        if producer.inside is Role.SPRING or (
            producer.inside is None and known_head(identity.text or "") != identity.text
        ):
            yield identity, producer.inside
    for sink in deployment.of(Role.FLINK):
        yield sink.value("sink.transactional-id-prefix"), Role.FLINK
    for streams in exactly_once_streams(deployment):
        yield streams.value("application.id"), Role.STREAMS
