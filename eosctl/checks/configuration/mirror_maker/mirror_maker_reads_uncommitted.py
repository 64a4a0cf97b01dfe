"""EOS-CFG-064."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eosctl.analysis.mirror_flows import LEVEL, Flow, flows_of, mirrors, support_without_effect, without_effect
from eosctl.checks.configuration.clients import transactional_producers
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Deployment, Role, Value, folder_of
from eosctl.model.recovery import is_link
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence

COMMITTED = "read_committed"


@check(
    "EOS-CFG-064",
    "MirrorMaker copies uncommitted records",
    Area.CONFIGURATION,
    Severity.ERROR,
    roles=(Role.MIRROR_MAKER, Role.SOURCE_CONNECTOR),
    reads=("isolation.level", "exactly.once.source.support"),
    references=(
        "KIP-618",
        "KIP-656",
        "MirrorMakerConfig.connectorBaseConfig",
        "MirrorConnectorConfig.sourceConsumerConfig",
    ),
)
def mirror_maker_reads_uncommitted(case: Case) -> Iterator[Problem]:
    """Find MirrorMaker flows that copy records of aborted transactions.

    What it checks:
        isolation.level of the consumer that reads the source cluster: read_uncommitted written down; read_committed
        in a spelling that does not reach it; or not set. That is an error while exactly-once sources are enabled, a
        warning with a producer in the same folder that writes in transactions, and else information. In mm2.properties
        three spellings reach it: SOURCE.consumer.isolation.level, SOURCE->TARGET.source.consumer.isolation.level, and
        SOURCE->TARGET.consumer.isolation.level, with the aliases of the clusters. No other
        does: TARGET.consumer.isolation.level is for the consumers of the target, consumer.isolation.level and
        source.consumer.isolation.level are dropped. A connector has no aliases: there source.consumer.isolation.level
        and consumer.isolation.level reach it.

    Why it matters for exactly-once:
        MirrorMaker copies records, not markers. What it reads uncommitted is committed in the target, also when it
        was aborted.

    Example:
        mm2.properties with east->west.enabled=true, west.exactly.once.source.support=enabled, and
        source.consumer.isolation.level=read_committed: the consumer reads uncommitted records.

    Fix:
        In mm2.properties, set SOURCE.consumer.isolation.level=read_committed with the alias of the cluster that is
        read, e.g. east.consumer.isolation.level. In the settings of a connector, set
        source.consumer.isolation.level=read_committed.

    Verify:
        eosctl config lint reports it no longer.
    """
    for mirror in mirrors(case.deployment):
        flows = flows_of(mirror)
        levels = {flow: flow.source_consumer(LEVEL) for flow in flows}
        uncommitted = {
            level.key: level for level in levels.values() if level and (level.word or "").lower() == "read_uncommitted"
        }
        for level in uncommitted.values():
            yield problem(
                mirror,
                (level,),
                f"{level.key} is read_uncommitted.",
                impact="Records of aborted transactions are committed in the target cluster.",
                remedy=f"Set {level.key}=read_committed.",
            )
        unset = [flow for flow, level in levels.items() if level is None]
        if unset:
            yield from _unset(mirror, unset, case.deployment)


def _unset(mirror: Component, flows: Sequence[Flow], deployment: Deployment) -> Iterator[Problem]:
    """Yield what is wrong with flows whose consumers read uncommitted records by default."""
    keys = dict.fromkeys(flow.advised_key(LEVEL) for flow in flows)
    remedy = f"Set {' and '.join(f'{key}={COMMITTED}' for key in keys)}."
    lost = [value for value in without_effect(mirror) if (value.word or "").lower() == COMMITTED]
    for value in lost:
        yield problem(
            mirror,
            (value,),
            f"{value.key} does not reach the consumer that reads the source cluster.",
            impact="The flow reads uncommitted records: those of aborted transactions are committed in the target.",
            remedy=remedy,
        )
    wanted = next((asked for flow in flows if (asked := _wanted(flow))), None)
    if wanted is not None and not lost:
        yield problem(
            mirror,
            (wanted,),
            f"{wanted.key} is {wanted.word}, but the source's consumer reads uncommitted records by default.",
            impact="Aborted records are copied, and the connector cannot promise exactly-once.",
            remedy=remedy,
        )
    if wanted is None and not lost and not is_link(mirror):
        yield _by_default(mirror, remedy, deployment)


def _by_default(mirror: Component, remedy: str, deployment: Deployment) -> Problem:
    """Return what is wrong with a mirror that asks for nothing: the source may have transactions."""
    writers = (one for one in transactional_producers(deployment) if folder_of(one) == folder_of(mirror))
    writer = next(writers, None)
    place = "" if writer is None else f", and {writer.value('transactional.id').place or writer.place}"
    return problem(
        mirror,
        (),
        "isolation.level of the source's consumer is not set" + (f"{place} writes in transactions." if place else "."),
        severity=Severity.WARNING if writer is not None else Severity.INFO,
        confidence=Confidence.LIKELY,
        impact="Records of aborted transactions are committed in the target cluster.",
        remedy=remedy.removesuffix(".") + ", unless the source has no transactions.",
    )


def _wanted(flow: Flow) -> Value | None:
    """Return the value that asks for exactly-once, also where it names no cluster (EOS-CFG-143 reports that)."""
    given = flow.mirror.given.get("exactly.once.source.support")
    values = (flow.support(), given, *support_without_effect(flow.mirror))
    return next((v for v in values if v is not None and (v.word or "").lower() in ("enabled", "required")), None)
