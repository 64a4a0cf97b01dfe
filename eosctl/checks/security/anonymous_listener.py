"""EOS-SEC-006."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.findings.finding import Command
from eosctl.model.evidence import EvidenceKind
from eosctl.model.severity import Severity
from eosctl.model.snapshot import Broker
from eosctl.model.verdict import Evidence, Resource

LOCAL: Final = ("localhost:", "127.", "[::1]")


@check(
    "EOS-SEC-006",
    "Listener without authentication on a broker with access rules",
    Area.SECURITY,
    Severity.WARNING,
    needs=frozenset({EvidenceKind.BROKER_CONFIGS}),
    tags=("security",),
    references=(
        "KIP-103",
        "listeners",
    ),
)
def anonymous_listener(case: Case) -> Iterator[Problem]:
    """Find brokers whose rules meet clients without a name.

    What it checks:
        On brokers with an authorizer: listeners whose protocol is PLAINTEXT, other than the controllers' and those
        bound to the machine itself.

    Why it matters for exactly-once:
        Every client of that listener is User:ANONYMOUS, so rules cannot distinguish the transactional ids of
        different applications.

    Example:
        A PLAINTEXT listener that was kept for old clients.

    Fix:
        Remove it, bind it to 127.0.0.1, or give it authentication.

    Verify:
        eosctl check run EOS-SEC-006 passes.
    """
    for broker in case.snapshot.brokers:
        if not _value(broker, "authorizer.class.name"):
            continue
        protocols = dict(
            entry.strip().split(":", 1)
            for entry in _value(broker, "listener.security.protocol.map").split(",")
            if ":" in entry
        )
        controllers = {name.strip() for name in _value(broker, "controller.listener.names").split(",")}
        for listener in (text.strip() for text in _value(broker, "listeners").split(",")):
            name, _, address = listener.partition("://")
            if name in controllers or not address or address.startswith(LOCAL):
                continue
            if protocols.get(name, name).upper() == "PLAINTEXT":
                yield Problem(
                    resource=Resource("broker", str(broker.node_id)),
                    message=f"{listener} takes clients without authentication.",
                    impact="They all are User:ANONYMOUS; no rule can protect a transactional id from them.",
                    evidence=(Evidence("listeners", _value(broker, "listeners"), f"broker {broker.node_id}"),),
                    remedy=("Remove the listener, or give it authentication.",),
                    verify=(Command(f"eosctl check run EOS-SEC-006 -b {case.bootstrap}"),),
                    incident=name,
                    facts=(("broker", broker.node_id), ("listener", name)),
                )


def _value(broker: Broker, name: str) -> str:
    setting = broker.setting(name)
    return (setting.value or "") if setting is not None else ""
