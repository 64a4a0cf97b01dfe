"""The brokers of a running cluster, as components beside those of the files."""

from __future__ import annotations

from eosctl.analysis.release import release_floor
from eosctl.model.deployment import Component, Place, Role, Value
from eosctl.model.setting import SettingSource
from eosctl.model.snapshot import ClusterSnapshot


def broker_components(snapshot: ClusterSnapshot) -> tuple[Component, ...]:
    """Return a component per broker that told its settings; what it calls a default counts as one."""
    components: list[Component] = []
    for broker in snapshot.brokers:
        if not broker.settings:
            continue
        name = f"broker {broker.node_id}"
        place = Place(name, 0)
        defaults = {s.name: s.value for s in broker.settings if s.source is SettingSource.DEFAULT}
        given = {
            s.name: Value(s.name, s.value, s.name, place)
            for s in broker.settings
            if s.source is not SettingSource.DEFAULT and not s.sensitive
        }
        release = release_floor(broker) or (4, 3)
        components.append(Component(Role.BROKER, name, place, name, given, {}, defaults, release))
    return tuple(components)
