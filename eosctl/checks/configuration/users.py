"""The user that a client logs in as, and the access rules of this user."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from eosctl.checks.configuration.topics import topics_of
from eosctl.model.deployment import Component, Deployment, Role
from eosctl.model.placeholders import known_head
from eosctl.settings.platforms.application_files import project_of, words_of

_USER: Final = re.compile(r"""\busername\s*=\s*["']?(?P<name>[^"';\s]+)""")
_ELSEWHERE: Final = ("$", "{")
_ACCOUNT: Final = re.compile(r"\$\{(?:data\.)?\w*(?:account|user)\w*\.(?P<name>[\w-]+)")
"""A principal that Terraform has from another resource, by the name of that."""
_SUBJECT: Final = re.compile(r"\bCN=(?P<name>[^,/]+)", re.IGNORECASE)
_EVERYONE: Final = "*"
_OF_ALL: Final = frozenset({"kafka", "connect", "client", "producer", "consumer", "streams", "cluster", "user", "sa"})
"""Words that many users and programs have in their names."""


def users_of(client: Component) -> frozenset[str]:
    """Return the user that the settings of a client name; empty where they name none, or one from elsewhere.

    Kafka's clients name it in ``sasl.jaas.config``, librdkafka's in ``sasl.username``.
    """
    name = name_of_login(client.value("sasl.jaas.config").text or "") or client.value("sasl.username").word
    return frozenset() if not name or name.startswith(_ELSEWHERE) else frozenset((name,))


def name_of_login(text: str) -> str:
    """Return the user that a login of JAAS names; empty where it names none."""
    match = _USER.search(text)
    return "" if match is None else match["name"]


class OwnRules(NamedTuple):
    """The access rules of a client's user; ``is_named`` is false where a name or a topic relates the two."""

    rules: tuple[Component, ...] = ()
    is_named: bool = True


class AccessRules:
    """The access rules of a deployment by their principal."""

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self._by_principal: dict[str, list[Component]] = {}
        for rule in deployment.of(Role.ACCESS_RULE):
            self._by_principal.setdefault((rule.value("principal").text or "").strip(), []).append(rule)
        self._everyones = tuple(self._by_principal.pop(_EVERYONE, ()))
        self._names = {principal: words_of(_plain(principal)) - _OF_ALL for principal in self._by_principal}
        self._writers = {principal: own for principal, own in self._by_principal.items() if any(map(_may_write, own))}
        applications = {one.application for one in deployment.of(Role.PRODUCER)}
        self._is_of_one = len(applications) == 1 and len(self._writers) == 1

    def of(self, client: Component) -> OwnRules:
        """Return the rules of the user of a client, and those of all users; nothing where its user is not known.

        The user is the one that its settings or its Secrets name. Else it is the only one that has the name of the
        application, or that may write to its topics, or that may write at all next to the only application.
        """
        users = users_of(client)
        if users or not self._by_principal.keys().isdisjoint(client.secrets):
            return self._rules(users or client.secrets, is_named=True)
        if client.value("sasl.jaas.config").is_given and client.word("sasl.jaas.config"):
            return OwnRules()  # a login without a name of a user
        alone = self._writers if self._is_of_one and not client.secrets else {}
        for found in (self._named(client), self._writing(client), alone):
            if len(found) == 1:
                return self._rules(found, is_named=False)
        return OwnRules()

    def principals_of(self, client: Component) -> frozenset[str]:
        """Return the user of a client that has rules, as the rules spell it; empty where it is not known."""
        texts = ((rule.value("principal").text or "").strip() for rule in self.of(client).rules)
        return frozenset(text for text in texts if text != _EVERYONE)

    def _rules(self, principals: Iterable[str], *, is_named: bool) -> OwnRules:
        own = [rule for name in principals for rule in self._by_principal.get(name, ())]
        return OwnRules((*own, *self._everyones) if own else (), is_named)

    def _named(self, client: Component) -> list[str]:
        names = [words_of(name) - _OF_ALL for name in _names_of(self._deployment, client)]
        return [principal for principal, words in self._names.items() if words and words in names]

    def _writing(self, client: Component) -> list[str]:
        topics = topics_of(self._deployment, client).likely
        writers = self._writers.items() if topics else ()
        return [name for name, own in writers if any(_covers(rule, topics) for rule in own if _may_write(rule))]


def _plain(principal: str) -> str:
    match = _ACCOUNT.search(principal) or _SUBJECT.search(principal)
    return principal if match is None else match["name"]


def _names_of(deployment: Deployment, client: Component) -> Iterator[str]:
    """Yield what the application of a client is called: by its workload, its ids, and its folder."""
    _, workload, label = (*client.application.split("\0"), "", "")[:3]
    yield from (workload.rpartition(" ")[2], label)
    near = (client, *deployment.same_application(client, Role.CONSUMER, Role.STREAMS))
    for name in ("client.id", "group.id", "application.id"):
        yield from (text for one in near if (text := one.word(name)))
    yield known_head(client.value("transactional.id").text or "")
    yield project_of(client.place.file).rpartition("/")[2]


def kind_of(rule: Component) -> str:
    """Return the type of a rule's resource in small letters: ``topic``, ``transactionalid``."""
    return (rule.word("resource.type") or "").lower().replace("_", "")


def allows(rule: Component, *operations: str) -> bool:
    """Return whether a rule allows one of the operations, or all; one without operations allows none."""
    given = {word.strip(" []\"'").lower() for word in (rule.word("operations") or "").split(",")}
    return not given.isdisjoint((*operations, "all")) and (rule.word("permission") or "allow").lower() == "allow"


def _may_write(rule: Component) -> bool:
    return kind_of(rule) == "topic" and allows(rule, "write")


def _covers(rule: Component, topics: Iterable[str]) -> bool:
    name = rule.word("resource.name") or ""
    if (rule.word("pattern.type") or "literal").lower().startswith("prefix"):
        return bool(name) and any(topic.startswith(name) for topic in topics)
    return name in topics
