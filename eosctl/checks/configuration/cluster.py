"""The brokers and internal topics of a running cluster, as components next to those of the files."""

from __future__ import annotations

from eosctl.analysis.release import release_floor
from eosctl.knowledge.parameter_tables import load_tables
from eosctl.model.deployment import ALL_BROKERS, Component, Place, Role, Value
from eosctl.model.setting import SettingSource
from eosctl.model.snapshot import ClusterSnapshot


def broker_components(snapshot: ClusterSnapshot) -> tuple[Component, ...]:
    """Return a component per broker that reported its settings; its defaults count as defaults."""
    components: list[Component] = []
    for broker in snapshot.brokers:
        if not broker.settings:
            continue
        name = ALL_BROKERS if broker.node_id < 0 else f"broker {broker.node_id}"
        place = Place(name, 0)
        defaults = {s.name: s.value for s in broker.settings if s.source is SettingSource.DEFAULT}
        given = {
            s.name: Value(s.name, s.value, s.name, place)
            for s in broker.settings
            if s.source is not SettingSource.DEFAULT and not s.sensitive
        }
        release = release_floor(broker) or load_tables()["broker"].last
        components.append(
            Component(
                role=Role.BROKER,
                name=name,
                place=place,
                application=name,
                given=given,
                framework={},
                defaults=defaults,
                release=release,
            )
        )
    return tuple(components)


def topic_components(snapshot: ClusterSnapshot) -> tuple[Component, ...]:
    """Return a component per internal topic, with its number of partitions and what was set for it."""
    components: list[Component] = []
    for topic in snapshot.topics:
        if not topic.internal:
            continue
        place = Place(f"topic {topic.name}", 0)
        reported = {
            s.name: s.value for s in topic.settings if s.source is SettingSource.DYNAMIC_TOPIC and not s.sensitive
        }
        reported["partitions"] = str(len(topic.partitions))
        given = {name: Value(name, text, name, place) for name, text in reported.items()}
        components.append(Component(Role.TOPIC, topic.name, place, place.file, given))
    return tuple(components)
