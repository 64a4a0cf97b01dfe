"""What commands there are, in the order of the help; `lazy` says how they are found and how one is added."""

from __future__ import annotations

from typing import Final

from eosctl.commands.lazy import Entry

DIAGNOSE: Final = "Diagnose"
ACT: Final = "Act"
LAB: Final = "Lab"
PLAN: Final = "Plan"
SETTINGS: Final = "Settings"

COMMANDS: Final = (
    Entry(
        "doctor",
        "doctor.doctor:doctor",
        "Collect evidence, run every check that applies, grade, say what to do next.",
        DIAGNOSE,
    ),
    Entry("check", "check:COMMANDS", "The catalogue of checks.", DIAGNOSE),
    Entry("checklist", "checklist:COMMANDS", "Checklists: go-live, upgrades, drills, reviews.", DIAGNOSE),
    Entry("config", "config:COMMANDS", "Configuration files of brokers and applications.", DIAGNOSE),
    Entry("bugs", "bugs:bugs", "List bugs that hurt exactly-once.", DIAGNOSE),
    Entry(
        "decode",
        "decode:COMMANDS",
        "Decode Kafka's files: segments, indexes, snapshots, checkpoints, internal topics.",
        DIAGNOSE,
        check_word="decode.ending:refuse_file",
    ),
    Entry(
        "fsck",
        "fsck:fsck",
        "Check data directories: logs, indexes, snapshots, checkpoints, and transactions across them.",
        DIAGNOSE,
    ),
    Entry("logs", "logs:COMMANDS", "Incidents and their causes from logs.", DIAGNOSE),
    Entry(
        "explain",
        "explain:explain",
        "Explain an error, a setting, a check, or any other term.",
        DIAGNOSE,
        {"ignore_unknown_options": True},  # librdkafka's error codes are negative
    ),
    Entry("metrics", "metrics:COMMANDS", "Metrics and alerts of exactly-once.", DIAGNOSE),
    Entry(
        "exporter",
        "exporter:exporter",
        "Serve Prometheus what no bean of Kafka tells: open and hanging transactions, what they pin, unstable offsets.",
        DIAGNOSE,
    ),
    Entry("snapshot", "snapshot:COMMANDS", "Evidence bundles: capture, show, compare.", DIAGNOSE),
    Entry(
        "timeline",
        "timeline:timeline",
        "Merge transaction log, batches, group commits and logs into lanes: one an actor, around an id or a time.",
        DIAGNOSE,
    ),
    Entry("txn", "txn:COMMANDS", "Transactions: list, describe, find what hangs, end it.", ACT),
    Entry("fencing", "fencing:COMMANDS", "Fencing: who took a transactional id from whom.", ACT),
    Entry("group", "group:COMMANDS", "Groups and their offsets.", ACT),
    Entry("diagnose", "diagnose:diagnose", "Find the runbooks for a symptom.", ACT),
    Entry("runbook", "runbook:COMMANDS", "Runbooks that look, decide, ask, act, verify, and leave a record.", ACT),
    Entry("dr", "dr:COMMANDS", "What survives when a region is lost.", ACT),
    Entry("sandbox", "sandbox:COMMANDS", "A local Kafka cluster with faults on demand.", LAB),
    Entry(
        "demo",
        "demo:demo",
        "Tell the whole story: start a cluster, break it, diagnose it, mend it, read its logs.",
        LAB,
    ),
    Entry(
        "verify",
        "verify:COMMANDS",
        "Verify that a deployment is exactly-once: applications, faults, and the checked history.",
        LAB,
    ),
    Entry("capacity", "capacity:COMMANDS", "Plan clusters for transactional workloads.", PLAN),
    Entry("profile", "profile:COMMANDS", "Named clusters: how to reach them, and which are protected.", SETTINGS),
    Entry("schema", "info:schema", "Show the JSON Schema of a result, or list what there is.", SETTINGS),
    Entry("version", "info:version", "Show the versions of eosctl, Python and the libraries that matter.", SETTINGS),
)
