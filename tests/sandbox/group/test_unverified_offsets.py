"""Offsets of a transaction whose coordinator does not know the group."""

from __future__ import annotations

from typing import ClassVar

from tests.sandbox.test_group_machine import BROKER_SETTINGS, Groups


class GroupsUnverified(Groups):
    broker_settings: ClassVar[dict[str, str]] = {
        **BROKER_SETTINGS,
        "transaction.partition.verification.enable": "false",
    }


def test_clients_may_rely_on_the_broker_without_verification() -> None:
    groups = GroupsUnverified()
    groups.create()
    groups.init("a")
    groups.commit_in_transaction("a", 0)
    groups.offsets_are_what_was_committed()
    groups.end("a", commit=True)
    groups.offsets_are_what_was_committed()
    groups.teardown()
