"""The group coordinator: classic groups, KIP-848 consumer groups, and their offsets in `__consumer_offsets`.

Rules are functions from immutable groups to new groups and effects. Drivers own timers, appends, and responses.
"""
