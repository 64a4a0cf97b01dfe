"""EOS-CFG-109."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Role, Value
from eosctl.model.parameter import relaxed
from eosctl.model.severity import Severity
from eosctl.text import release_text


@check(
    "EOS-CFG-109",
    "Setting removed in this release",
    Area.CONFIGURATION,
    Severity.WARNING,
    roles=(),
    reads=(),
    tags=("upgrade",),
    references=("org.apache.kafka.common.config.ConfigDef",),
)
def removed_setting(case: Case) -> Iterator[Problem]:
    """Find settings that were removed before the named release.

    What it checks:
        Written settings against the table of their component, where the release is named by the file or the user.
        ZooKeeper's settings and Streams' guarantee have rules of their own.

    Why it matters for exactly-once:
        Kafka ignores unknown settings, so the default applies in place of the intended value.

    Example:
        offsets.commit.required.acks=-1 or log.message.format.version on a broker of 4.0.

    Fix:
        Remove it; eosctl config upgrade says what came in its place.

    Verify:
        eosctl config lint reports it no longer.
    """
    for component in case.deployment.components:
        table = case.deployment.table(component)
        if component.role is Role.TOPIC:  # EOS-CFG-152: topics refuse them
            continue
        if table is None or not component.release_named or component.release < table.first:
            continue
        for name, value in component.given.items():
            parameter = table.parameters.get(name)
            removed = parameter.removed if parameter is not None else None
            if (
                removed is None
                or component.release < removed
                or name.startswith("zookeeper.")
                or not is_own(value, name)
            ):
                continue
            yield problem(
                component,
                (value,),
                f"{value.key} was removed in {release_text(removed)}.",
                impact="It is ignored.",
                remedy="Remove it.",
            )


def is_own(value: Value, name: str) -> bool:
    """Return whether it was written for this component, and did not merely reach it."""
    return relaxed(value.key).endswith(relaxed(name))
