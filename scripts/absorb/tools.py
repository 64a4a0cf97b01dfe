"""Write the options of Kafka's command-line tools: `tests/fixtures/tools/<release>.json`.

    python -m scripts.absorb.tools RELEASE...

Each tool prints its own help; those with commands print one for each command. What eosctl prints of these tools is
held to the tables. An option that takes a value ends with `=`.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from scripts.absorb.jars import fetch

TABLES: Final = Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "tools"
_TOOLS: Final = "org.apache.kafka.tools"
#: By script, the class that it starts (before the move to kafka-tools as well), and its commands.
MAIN_CLASSES: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "kafka-transactions.sh": (
        (f"{_TOOLS}.TransactionsCommand",),
        ("list", "describe", "describe-producers", "abort", "find-hanging", "forceTerminateTransaction"),
    ),
    "kafka-features.sh": (
        (f"{_TOOLS}.FeatureCommand",),
        ("describe", "upgrade", "downgrade", "disable", "version-mapping", "feature-dependencies"),
    ),
    "kafka-metadata-quorum.sh": (
        (f"{_TOOLS}.MetadataQuorumCommand",),
        ("describe", "add-controller", "remove-controller"),
    ),
    "kafka-topics.sh": ((f"{_TOOLS}.TopicCommand", "kafka.admin.TopicCommand"), ()),
    "kafka-configs.sh": ((f"{_TOOLS}.ConfigCommand", "kafka.admin.ConfigCommand"), ()),
    "kafka-acls.sh": ((f"{_TOOLS}.AclCommand", "kafka.admin.AclCommand"), ()),
    "kafka-consumer-groups.sh": (
        (f"{_TOOLS}.consumer.group.ConsumerGroupCommand", "kafka.admin.ConsumerGroupCommand"),
        (),
    ),
    "kafka-leader-election.sh": ((f"{_TOOLS}.LeaderElectionCommand",), ()),
    "kafka-log-dirs.sh": ((f"{_TOOLS}.LogDirsCommand",), ()),
    "kafka-reassign-partitions.sh": ((f"{_TOOLS}.reassign.ReassignPartitionsCommand",), ()),
    "kafka-get-offsets.sh": ((f"{_TOOLS}.GetOffsetShell",), ()),
    "kafka-broker-api-versions.sh": (
        (f"{_TOOLS}.BrokerApiVersionsCommand", "kafka.admin.BrokerApiVersionsCommand"),
        (),
    ),
    "kafka-client-metrics.sh": ((f"{_TOOLS}.ClientMetricsCommand",), ()),
    "kafka-console-share-consumer.sh": ((f"{_TOOLS}.consumer.ConsoleShareConsumer",), ()),
    "kafka-delegation-tokens.sh": ((f"{_TOOLS}.DelegationTokenCommand",), ()),
    "kafka-delete-records.sh": ((f"{_TOOLS}.DeleteRecordsCommand",), ()),
    "kafka-dump-log.sh": ((f"{_TOOLS}.DumpLogSegments", "kafka.tools.DumpLogSegments"), ()),
    "kafka-groups.sh": ((f"{_TOOLS}.GroupsCommand",), ()),
    "kafka-share-groups.sh": ((f"{_TOOLS}.consumer.group.ShareGroupCommand",), ()),
    "kafka-streams-groups.sh": ((f"{_TOOLS}.streams.StreamsGroupCommand",), ()),
    "kafka-storage.sh": (
        (f"{_TOOLS}.StorageTool", "kafka.tools.StorageTool"),
        ("info", "format", "random-uuid", "version-mapping", "feature-dependencies"),
    ),
    "kafka-streams-application-reset.sh": ((f"{_TOOLS}.StreamsResetter",), ()),
    "kafka-console-consumer.sh": (
        (f"{_TOOLS}.consumer.ConsoleConsumer", "kafka.tools.ConsoleConsumer"),
        (),
    ),
    "kafka-console-producer.sh": ((f"{_TOOLS}.ConsoleProducer", "kafka.tools.ConsoleProducer"), ()),
}
# --topic <String: topic> and --topic TOPIC take a value, also where it is in brackets; after a flag, its text follows.
_OPTION: Final = re.compile(
    r"(?<![\w-])(--[a-z][A-Za-z.-]+[A-Za-z])"
    r"(?P<value>,? (?:-\w )?(?:\[?<|\[?(?!REQUIRED|DEPRECATED|NOTE|ID of)[A-Z][A-Z_-]+\b))?"
)


def main(arguments: list[str]) -> int:
    """Write the tables, and return the exit status."""
    java = shutil.which("java")
    if not arguments or java is None:
        print(__doc__, file=sys.stderr)
        return 2
    TABLES.mkdir(exist_ok=True)
    for release in arguments:
        options = {tool: _options(java, fetch(release), *how) for tool, how in MAIN_CLASSES.items()}
        text = json.dumps(options, indent=1, sort_keys=True)
        (TABLES / f"{release}.json").write_text(f"{text}\n", encoding="utf-8")
    return 0


def _options(java: str, jars: Path, classes: tuple[str, ...], commands: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the options by command, those of the tool itself by an empty name; empty where it has no such command."""
    found: dict[str, list[str]] = {}
    for command in ("", *commands):
        for name in classes:
            run = [java, "-Xmx128m", "-cp", f"{jars}/*", name, *filter(None, [command]), "--help"]
            done = subprocess.run(run, capture_output=True, text=True, check=False)
            whole = re.sub(r"-\n\s+(?=[a-z])", "-", done.stdout + done.stderr)
            text = " ".join(whole.split())  # the help is justified
            if "ClassNotFoundException" not in text and "invalid choice" not in text:
                found[command] = _named(text)
                break
    return found


def _named(text: str) -> list[str]:
    """Return the options that a help names; of those that it names several times, one place shows the value."""
    named = {one[1] for one in _OPTION.finditer(text)}
    valued = {one[1] for one in _OPTION.finditer(text) if one["value"]}
    return sorted(f"{name}=" if name in valued else name for name in named)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
