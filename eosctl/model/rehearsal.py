"""The result of rehearsing a runbook."""

from __future__ import annotations

import msgspec


class StoryItem(msgspec.Struct, frozen=True):
    """One story; ``failure`` is empty when it went as told."""

    name: str
    outcome: str
    step: str
    failure: str


class RehearsalItem(msgspec.Struct, frozen=True):
    """A runbook: its stories, and the ways out of its steps that none of them took."""

    runbook: str
    stories: tuple[StoryItem, ...]
    way_count: int
    untaken: tuple[str, ...]

    @property
    def failed(self) -> tuple[StoryItem, ...]:
        """The stories that did not go as told."""
        return tuple(story for story in self.stories if story.failure)
