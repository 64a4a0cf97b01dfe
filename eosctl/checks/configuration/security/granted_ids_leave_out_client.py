"""EOS-CFG-175."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from eosctl.checks.configuration.clients import head_of_ids, transactional_producers
from eosctl.checks.configuration.problem import problem
from eosctl.checks.configuration.users import AccessRules, kind_of, users_of
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import FRAMEWORKS, Component, Deployment, Role, Value
from eosctl.model.placeholders import known_head, may_be, may_begin_with
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence

_WRITING: Final = frozenset({"write", "all"})
_GENERATED: Final = "(generated)"
_SUPPORT: Final = "exactly.once.source.support"


class _Client(NamedTuple):
    """Who uses a transactional id, the id, the group or the users that show this, and whether a rule may be wrong.

    ``appends`` is true for a framework, which makes ids of what is given: ``identity`` is then how they begin.
    """

    component: Component
    identity: str
    shown: Value
    group: str
    is_own: bool
    users: frozenset[str] = frozenset()
    appends: bool = False

    @property
    def granted(self) -> str:
        """What to grant: the id, or the known part of it where what follows differs."""
        head = known_head(self.identity)
        is_whole = head == self.identity and not self.appends
        return f"transactional id {head}" if is_whole else f"prefix {head} of transactional ids (prefixed, not literal)"


@check(
    "EOS-CFG-175",
    "Access rules grant other transactional ids than the client uses",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.ACCESS_RULE,),
    reads=("resource.type", "resource.name", "pattern.type", "operations", "transactional.id", _SUPPORT),
    tags=("security",),
    references=("KIP-98", "KIP-618", "DistributedConfig.transactionalProducerId"),
)
def granted_ids_leave_out_client(case: Case) -> Iterator[Problem]:
    """Find clients whose user is granted transactional ids, but not the one that the client uses.

    What it checks:
        The ids that rules grant to the user of a transactional producer or of Connect's workers. sasl.jaas.config
        names the user; else it is the one with the name of the application, or who may write to its topics, or read
        with the client's group, which is that of the consumer next to a producer. Workers with
        exactly.once.source.support write their own topic with the id connect-cluster-GROUP, in addition to the ids of
        tasks. Spring and Flink append to their prefix, and Kafka Streams to its application.id, so a literal rule for
        it covers none of their ids, and a rule for the prefix APPLICATION- all of an application's. A placeholder
        stands for some text.

    Why it matters for exactly-once:
        The broker refuses InitProducerId with TRANSACTIONAL_ID_AUTHORIZATION_FAILED, and no transaction begins.

    Example:
        A rule for the prefix payengine-, and transactional.id=pay-engine-1.

    Fix:
        Grant Write and Describe on the id, or on a prefix of it.

    Verify:
        eosctl config lint reports it no longer.
    """
    rules = [rule for rule in case.deployment.of(Role.ACCESS_RULE) if _allows(rule)]
    for client in _clients(case.deployment, AccessRules(case.deployment)) if rules else ():
        users = client.users or {
            rule.value("principal").text for rule in rules if kind_of(rule) == "group" and _covers(rule, client.group)
        }
        own = [rule for rule in rules if rule.value("principal").text in users and kind_of(rule) == "transactionalid"]
        if not own or any(_covers(rule, client.identity, is_prefix=client.appends) for rule in own):
            continue
        name = own[0].value("resource.name")
        at_rule = client.is_own and len(own) == 1
        heads = (known_head(client.identity), known_head(client.shown.text or ""))
        if at_rule and name.word in heads and client.granted.startswith("prefix"):
            continue  # a literal rule for the prefix, which EOS-CFG-167 reports
        yield problem(
            own[0] if at_rule else client.component,
            (name, client.shown) if at_rule else (client.shown, name),
            f"The transactional id {client.identity} is not among the granted ids: {_names(own)}.",
            confidence=Confidence.LIKELY,
            impact="The client is refused when it initializes, and no transaction begins.",
            remedy=f"Grant Write and Describe on the {client.granted}.",
        )


def _clients(deployment: Deployment, access: AccessRules) -> Iterator[_Client]:
    for producer in transactional_producers(deployment):
        identity = _identity(deployment, producer)
        users = users_of(producer) or access.principals_of(producer)
        if identity.text in (None, _GENERATED):
            continue
        if identity.text and users:
            appends = producer.inside in (*FRAMEWORKS, Role.STREAMS)
            head = head_of_ids(identity.text, producer.inside)
            yield _Client(producer, head, identity, "", is_own=True, users=users, appends=appends)
            continue
        for consumer in deployment.same_application(producer, Role.CONSUMER):
            is_own = producer.inside in (None, Role.SPRING)
            if identity.text and is_own and (group := consumer.word("group.id")):
                appends = producer.inside is Role.SPRING
                yield _Client(producer, identity.text, identity, group, is_own=True, appends=appends)
    for worker in deployment.of(Role.CONNECT_WORKER):
        group = worker.word("group.id")
        if group and (worker.word(_SUPPORT) or "").lower() in ("enabled", "preparing"):
            yield _Client(worker, f"connect-cluster-{group}", worker.value("group.id"), group, is_own=False)


def _identity(deployment: Deployment, producer: Component) -> Value:
    """Return the id of a producer, or what its framework makes ids of."""
    if producer.inside is not Role.STREAMS:
        return producer.value("transactional.id")
    streams = deployment.same_application(producer, Role.STREAMS)
    return streams[0].value("application.id") if streams else producer.value("transactional.id")


def _covers(rule: Component, identity: str, *, is_prefix: bool = False) -> bool:
    """Return whether a rule grants an id, or may grant it where one of them has a placeholder."""
    name = rule.value("resource.name")
    if name.word is None or name.word == "*":
        return True
    if (rule.word("pattern.type") or "literal").lower().startswith("prefix"):
        return may_begin_with(identity, name.word)
    return may_be(identity, name.word, is_prefix=is_prefix)


def _allows(rule: Component) -> bool:
    operations = {word.strip(" []\"'").lower() for word in (rule.word("operations") or "").split(",")}
    needed = _WRITING if kind_of(rule) == "transactionalid" else {"read", "all"}
    return bool(operations & needed) and (rule.word("permission") or "allow").lower() == "allow"


def _names(rules: list[Component]) -> str:
    return ", ".join(sorted({rule.word("resource.name") or "" for rule in rules}))
