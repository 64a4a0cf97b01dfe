"""The persistent state of a voter: epoch, vote, and leader (Kafka's `quorum-state`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from eosctl.storage.atomic import replace_file
from eosctl.storage.errors import DamagedFile

FILE_NAME = "quorum-state"
NO_NODE = -1


class Election(NamedTuple):
    """An epoch as a voter knows it; -1 means none."""

    epoch: int = 0
    leader_id: int = NO_NODE
    voted_id: int = NO_NODE


class QuorumStore:
    """The file `quorum-state` in the directory of the metadata log, version 0 as with static voters."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE_NAME

    def load(self, voters: tuple[int, ...]) -> Election:
        """Read the saved state; without a file, the voter has not voted yet.

        Raises:
            DamagedFile: The file is malformed (a voter that forgot its vote could vote twice), or it has other voters
                (majorities of two sets could decide differently).
        """
        try:
            state = json.loads(self._path.read_text("utf-8"))
            known = tuple(int(voter["voterId"]) for voter in state["currentVoters"])
            election = Election(int(state["leaderEpoch"]), int(state["leaderId"]), int(state["votedId"]))
        except FileNotFoundError:
            return Election()
        except (ValueError, KeyError, TypeError) as error:
            raise DamagedFile(self._path, f"not a quorum state: {error}") from error
        if set(known) != set(voters):
            raise DamagedFile(self._path, f"written by a quorum of {sorted(known)}, not of {sorted(voters)}")
        return election

    def save(self, election: Election, voters: tuple[int, ...]) -> None:
        """Write the state, before it is sent to any other voter."""
        state = {
            "clusterId": "",
            "leaderId": election.leader_id,
            "leaderEpoch": election.epoch,
            "votedId": election.voted_id,
            "appliedOffset": 0,
            "currentVoters": [{"voterId": voter} for voter in voters],
            "data_version": 0,
        }
        self._path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(self._path, json.dumps(state, separators=(",", ":")).encode())
