"""Compare the message templates of a report with drain3, which learns templates from the messages themselves.

    python -m benchmarks.message_templates

Needs `pip install drain3`. The messages are Kafka's own: each template at WARN or above that its jars hold, filled
with several sets of values (names, numbers, partitions, ids), in random order. All messages of one template should
be one group, and no group should hold messages of two. Printed are the share of messages whose group is exactly
right (grouping accuracy), the numbers of groups, and the time.
"""

from __future__ import annotations

import random
import re
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from drain3 import TemplateMiner  # type: ignore[import-not-found]
from drain3.masking import MaskingInstruction  # type: ignore[import-not-found]
from drain3.template_miner_config import TemplateMinerConfig  # type: ignore[import-not-found]

from eosctl.logs.digest.templates import template_of

TEMPLATES = Path(__file__).parents[1] / "tests" / "fixtures" / "log-templates" / "templates.tsv"
PLACES = re.compile(r"\{\}|%[sd]")
FILLINGS = 12
ROUNDS = 3
VALUES = (
    lambda chance: str(chance.randrange(10**6)),
    lambda chance: f"orders-{chance.randrange(60)}",
    lambda chance: f"payments.v{chance.randrange(9)}-{chance.randrange(60)}",
    lambda chance: f"WorkerSinkTask{{id=sink-{chance.randrange(9)}}}",
    lambda chance: f"[{chance.randrange(9)}, {chance.randrange(9)}]",
    lambda chance: f"/var/lib/kafka/data-{chance.randrange(9)}/orders-{chance.randrange(60)}",
    lambda chance: f"relay-{chance.getrandbits(64):016x}",
)
"""What Kafka fills in: values with digits, as most of its names are."""
WORDS = (
    lambda chance: chance.choice(("RUNNING", "PENDING_SHUTDOWN", "COMPLETE_ABORT", "EMPTY", "ONGOING")),
    lambda chance: chance.choice(("payments", "ledger", "orders-relay", "checkout", "audit")),
)
"""And values without any: states and plain names."""
Masks = Sequence[tuple[str, str]]


def messages(chance: random.Random, words_share: float) -> list[tuple[int, str]]:
    """Return messages with the numbers of their templates."""
    rows = [line.split("\t") for line in TEMPLATES.read_text("utf-8").splitlines()[1:]]
    texts = sorted({row[4].partition("\\n")[0] for row in rows if len(PLACES.sub("", row[4]).strip()) > 10})

    filled = []
    for number, text in enumerate(texts):
        parts = PLACES.split(text)
        # A place of a template always holds the same kind of value.
        kinds = [chance.choice(WORDS if chance.random() < words_share else VALUES) for _ in parts[1:]]
        for _ in range(FILLINGS):
            values = [kind(chance) for kind in kinds]
            filled.append((number, "".join(map("".join, zip(parts, [*values, ""], strict=True)))))
    chance.shuffle(filled)
    return filled


def by_hand(texts: Sequence[str]) -> list[object]:
    """Group by the product's templates."""
    return [template_of(text) for text in texts]


def drain(similarity: float, masks: Masks = ()) -> Callable[[Sequence[str]], list[object]]:
    """Return a grouping by drain3, as it is after all messages were seen."""

    def group(texts: Sequence[str]) -> list[object]:
        config = TemplateMinerConfig()
        config.drain_sim_th = similarity
        config.drain_depth = 4
        config.masking_instructions = [MaskingInstruction(pattern, name) for pattern, name in masks]
        miner = TemplateMiner(config=config)
        return [miner.add_log_message(text)["cluster_id"] for text in texts]

    return group


def accuracy(truth: Sequence[int], groups: Sequence[object]) -> float:
    """Return the share of messages whose group holds all messages of their template and no others."""
    of_template: dict[int, set[int]] = defaultdict(set)
    of_group: dict[object, set[int]] = defaultdict(set)
    for place, (template, group) in enumerate(zip(truth, groups, strict=True)):
        of_template[template].add(place)
        of_group[group].add(place)
    right = sum(of_template[template] == of_group[group] for template, group in zip(truth, groups, strict=True))
    return right / len(truth)


def main() -> None:
    """Print a table."""
    masks = ((r"(?:/[\w.-]+){2,}", "PATH"), (r"[\w.-]*\d[\w.:-]*", "NUM"))
    ways = {
        "templates of the report": by_hand,
        "drain3, similarity 0.4": drain(0.4),
        "drain3, similarity 0.6": drain(0.6),
        "drain3, similarity 0.8": drain(0.8),
        "drain3, masks, similarity 0.4": drain(0.4, masks),
        "drain3, masks, similarity 0.6": drain(0.6, masks),
        "drain3, masks, similarity 0.8": drain(0.8, masks),
    }
    print("| values without digits | way | right | groups | of | µs a message |\n|---|---|---|---|---|---|")
    for words_share in (0.0, 0.2, 0.5):
        found = messages(random.Random(17), words_share)
        truth, texts = [number for number, _ in found], [text for _, text in found]
        for name, way in ways.items():
            seconds = []
            groups: list[object] = []
            for _ in range(ROUNDS):
                start = time.process_time()
                groups = way(texts)
                seconds.append(time.process_time() - start)
            cells = (f"{words_share:.0%}", name, f"{accuracy(truth, groups):.0%}", str(len(set(groups))))
            print("|", " | ".join((*cells, str(len(set(truth))), f"{min(seconds) / len(texts) * 1e6:.0f}")), "|")


if __name__ == "__main__":
    main()
