"""``eosctl txn``: transactions as coordinators and partition leaders see them, and what can be done about them."""

from eosctl.commands.lazy import Entry

COMMANDS = (
    Entry(
        "list",
        "txn.list:list_transactions",
        "List the transactions of all coordinators, open ones first, the oldest at the top.",
    ),
    Entry(
        "describe",
        "txn.describe:describe_transactions",
        "Show transactional ids in full: state, producers on their partitions, last steps in the transaction log.",
    ),
    Entry(
        "hanging",
        "txn.hanging:hanging_transactions",
        "Find transactions that hold readers back, with cause, evidence and blast radius.",
    ),
    Entry(
        "producers",
        "txn.producers:producers",
        "List the producers of partitions as their leaders know them, with the transactional id behind each.",
    ),
    Entry(
        "blame",
        "txn.blame:blame",
        "Tell who took a transactional id from whom, and why: from the transaction log, live or from files, and logs.",
    ),
    Entry(
        "locate",
        "txn.locate:locate_transaction",
        "Tell which partition of `__transaction_state` a transactional id belongs to; no cluster is asked.",
    ),
    Entry(
        "abort",
        "txn.change:abort_transaction",
        "Abort one hanging transaction: plan by default, carried out with --yes.",
    ),
    Entry(
        "watch",
        "txn.watch:watch_transactions",
        "Watch open transactions: how many, how old, and how far the last stable offset lies behind.",
    ),
    Entry(
        "complete",
        "txn.change:complete_transaction",
        "Write the COMMIT marker that a coordinator skipped (KAFKA-20734): plan by default, carried out with --yes.",
    ),
    Entry(
        "fence",
        "txn.change:fence_transaction",
        "Fence a transactional id: its coordinator aborts what is open, its producer is refused. Plan by default.",
    ),
)
