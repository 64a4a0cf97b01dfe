"""EOS-CFG-183."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.configuration.users import allows, kind_of, name_of_login
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Role, Value
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence


@check(
    "EOS-CFG-183",
    "Brokers log in as a user without ClusterAction",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.BROKER,),
    reads=("super.users", "authorizer.class.name", "inter.broker.listener.name"),
    tags=("security",),
    references=("KIP-11", "KIP-98"),
)
def broker_user_not_authorized(case: Case) -> Iterator[Problem]:
    """Find brokers with an authorizer and a user of their own that is neither a super user nor granted ClusterAction.

    What it checks:
        The username of the inter-broker listener's sasl.jaas.config (listener.name.NAME.MECHANISM.sasl.jaas.config),
        against super.users and the access rules in the input. A deployment with
        allow.everyone.if.no.acl.found=true is passed.

    Why it matters for exactly-once:
        The leader of a partition refuses WriteTxnMarkers with CLUSTER_AUTHORIZATION_FAILED. Transactions stay in
        PREPARE_COMMIT, and read_committed consumers stand still. Replication is refused in the same way.

    Example:
        super.users=User:admin next to username="broker" in the inter-broker listener's login.

    Fix:
        Add the brokers' user to super.users, or grant it ClusterAction on the cluster.

    Verify:
        eosctl config lint reports it no longer.
    """
    rules = case.deployment.of(Role.ACCESS_RULE)
    for broker in case.deployment.of(Role.BROKER):
        authorizer, users = broker.value("authorizer.class.name"), broker.value("super.users")
        if not (authorizer.is_given and authorizer.word and users.is_given and users.word):
            continue
        login = _login(broker)
        name = name_of_login(login.text or "") if login is not None and login.resolved else ""
        is_open = broker.flag("allow.everyone.if.no.acl.found") is True
        named = {user.strip().removeprefix("User:") for user in users.word.split(";")}
        if login is None or not name or is_open or name in named or any(_grants(rule, name) for rule in rules):
            continue
        yield problem(
            broker,
            (users, login),
            f"Brokers log in as {name}, which is not among {users.key}.",
            confidence=Confidence.CERTAIN if rules else Confidence.LIKELY,
            impact="Markers of transactions and replication are refused between brokers.",
            remedy=f"Add User:{name} to super.users.",
        )


def _login(broker: Component) -> Value | None:
    """Return the login of the listener that brokers use among each other."""
    listener = (broker.word("inter.broker.listener.name") or "").lower()
    own = f"listener.name.{listener}."
    names = (name for name in broker.given if listener and name.startswith(own) and name.endswith(".sasl.jaas.config"))
    return next(map(broker.value, names), None)


def _grants(rule: Component, user: str) -> bool:
    if not rule.value("principal").resolved or not rule.value("resource.type").resolved:
        return True
    is_users = rule.word("principal") in (user, "*")
    return is_users and kind_of(rule) in ("cluster", "any") and allows(rule, "clusteraction", "cluster_action")
