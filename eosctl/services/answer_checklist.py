"""Answer the automatic items of a checklist from a cluster and configuration files."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import msgspec

from eosctl.checks.checklist import answer_automatically
from eosctl.checks.checklist_subjects import Seen
from eosctl.checks.declaration import Case
from eosctl.checks.files_with_cluster import joined, judge_files
from eosctl.checks.registry import ALL_CHECKS
from eosctl.checks.runner import diagnose as run_checks
from eosctl.model.checklist import Answer, Checklist
from eosctl.model.deployment import Deployment
from eosctl.model.evidence import EvidenceGap
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.services.callbacks import SILENT, Callbacks
from eosctl.services.collect_evidence import EvidenceRequest, collect_evidence
from eosctl.services.connection import Connection, names_a_cluster
from eosctl.settings.deployment.deployment_files import read_deployment


class ChecklistRequest(msgspec.Struct, frozen=True):
    """The evidence for a checklist.

    Attributes:
        checklist: The list.
        at: The time of the answers, RFC 3339.
        connection: The cluster; none is read where neither this nor the environment names one.
        snapshot_file: A saved snapshot or bundle, which is read instead of a cluster.
        paths: Configuration files, and folders of them.
    """

    checklist: Checklist
    at: str
    connection: Connection = Connection()
    snapshot_file: Path | None = None
    paths: tuple[Path, ...] = ()


class Answered(NamedTuple):
    """The answers, the cluster that they are about, None where none was read, and the evidence that is missing."""

    answers: tuple[Answer, ...]
    cluster_id: str | None
    gaps: tuple[EvidenceGap, ...] = ()


def answer_checklist(request: ChecklistRequest, callbacks: Callbacks = SILENT) -> Answered:
    """Return the answers that checks give. Suppressions do not count: a checklist shows the facts.

    Raises:
        ConfigFileError: A configuration file or the snapshot cannot be read, or no file has settings of Kafka.
        EosctlError: No broker of the cluster answered.
    """
    evidence, deployment = None, Deployment()
    not_judged: tuple[str, ...] = ()
    if request.snapshot_file is not None or names_a_cluster(request.connection):
        evidence = collect_evidence(EvidenceRequest(request.connection, request.snapshot_file), callbacks)
    case = Case(evidence or ClusterSnapshot(captured_at_ms=0, cluster_id=""))
    diagnosis = run_checks(() if evidence is None else ALL_CHECKS, case)
    if request.paths:
        files = read_deployment(request.paths)
        if files.unreadable:
            raise files.unreadable[0].error
        files.require_settings()
        for file in files.not_understood:
            callbacks.remark(f"{file} is about Kafka and was not understood; no item about configurations is done.")
        for one in files.unseen:
            callbacks.remark(f"{one}: no rule has judged it.")
        not_judged = (*files.not_understood, *map(str, files.unseen))
        deployment = files.deployment
        diagnosis = joined(diagnosis, judge_files(deployment, evidence))
    answers = answer_automatically(request.checklist, diagnosis, Seen(evidence, deployment, not_judged), request.at)
    if evidence is None:
        return Answered(answers, None)
    return Answered(answers, evidence.cluster_id, evidence.gaps)
