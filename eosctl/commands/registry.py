"""The commands of eosctl, in the order of the help; `lazy` describes how they are found and how to add one."""

from __future__ import annotations

from typing import Final

from eosctl.command_line.help_text import Row
from eosctl.command_line.lazy import Entry

DIAGNOSE: Final = "Diagnose"
REPAIR: Final = "Repair"
MONITOR: Final = "Monitor"
CONFIGURE: Final = "Configure"
LAB: Final = "Lab"

COMMANDS: Final = (
    Entry("doctor", "doctor.doctor:doctor", "Diagnose a cluster and print the fixes.", DIAGNOSE),
    Entry(
        "explain",
        "explain:explain",
        "Explain an error, a setting, a check, or any other term.",
        DIAGNOSE,
        (("ignore_unknown_options", True),),  # The error codes of librdkafka are negative.
    ),
    Entry("diagnose", "diagnose:diagnose", "Find the runbook for a symptom.", DIAGNOSE),
    Entry("logs", "logs:COMMANDS", "Find incidents and their root causes in logs.", DIAGNOSE),
    Entry("timeline", "timeline:timeline", "Merge all evidence about an id into one timeline.", DIAGNOSE),
    Entry("fencing", "fencing:COMMANDS", "Explain why a producer was fenced.", DIAGNOSE),
    Entry("group", "group:COMMANDS", "List and describe groups, their lag, and pending offsets.", DIAGNOSE),
    Entry("check", "check:COMMANDS", "List, explain, and run checks.", DIAGNOSE),
    Entry("bugs", "bugs:bugs", "List Kafka bugs that break exactly-once.", DIAGNOSE),
    Entry(
        "decode",
        "decode:COMMANDS",
        "Decode Kafka's files and internal topics.",
        DIAGNOSE,
        check_word="eosctl.services.likely_decoder:refuse_file",
    ),
    Entry("fsck", "fsck:fsck", "Check the data directories of brokers.", DIAGNOSE),
    Entry("snapshot", "snapshot:COMMANDS", "Save, show, and compare a cluster's evidence.", DIAGNOSE),
    Entry("txn", "txn:COMMANDS", "Inspect, abort, and fence transactions.", REPAIR),
    Entry("runbook", "runbook:COMMANDS", "Run guided repairs that verify their result.", REPAIR),
    Entry("top", "top:top", "Show open transactions in a live view.", MONITOR),
    Entry("metrics", "metrics:COMMANDS", "Show metrics, and export alerts and dashboards.", MONITOR),
    Entry("exporter", "exporter:exporter", "Serve exactly-once metrics to Prometheus.", MONITOR),
    Entry("mcp", "servers:mcp", "Serve read-only tools to AI assistants (MCP).", MONITOR),
    Entry("config", "config:COMMANDS", "Check, compare, and fix configuration files.", CONFIGURE),
    Entry("lsp", "servers:lsp", "Serve configuration checks to editors (LSP).", CONFIGURE),
    Entry("checklist", "checklist:COMMANDS", "Work through checklists for go-live and upgrades.", CONFIGURE),
    Entry("capacity", "capacity:COMMANDS", "Plan clusters for transactional workloads.", CONFIGURE),
    Entry("dr", "dr:COMMANDS", "Check mirrors for disaster recovery.", CONFIGURE),
    Entry("profile", "profile:COMMANDS", "Manage named clusters.", CONFIGURE),
    Entry("schema", "info:schema", "Show the JSON Schema of a result, or list the schemas.", CONFIGURE),
    Entry("version", "info:version", "Show the versions of eosctl, Python, and key libraries.", CONFIGURE),
    Entry("demo", "demo:demo", "Show a fault from injection to repair in a minute.", LAB),
    Entry("sandbox", "sandbox:COMMANDS", "Run a local Kafka cluster and inject faults.", LAB),
    Entry("verify", "verify:COMMANDS", "Test clusters and applications for exactly-once.", LAB),
)

#: The commands that the help of the program shows first.
FIRST_STEPS: Final = (
    Row("eosctl demo", "See a fault found and fixed; needs no Kafka."),
    Row("eosctl doctor -b HOST:PORT", "Diagnose a cluster; sends read requests only."),
    Row("eosctl doctor conf/", "Check configuration files without a cluster."),
    Row("eosctl txn hanging -b HOST:PORT", "Find transactions that block readers."),
    Row("eosctl logs report LOG...", "Find root causes in broker and client logs."),
    Row('eosctl explain "ERROR"', "Explain an error message or a stack trace."),
)
