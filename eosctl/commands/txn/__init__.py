"""``eosctl txn``: transactions as coordinators and partition leaders see them, and what can be done about them."""

from eosctl.command_line.lazy import Entry

COMMANDS = (
    Entry("list", "txn.list:list_transactions"),
    Entry("describe", "txn.list:describe_transactions"),
    Entry("hanging", "txn.hanging:hanging_transactions"),
    Entry("producers", "txn.list:producers"),
    Entry("blame", "txn.blame:blame"),
    Entry("locate", "locate:locate_transaction"),
    Entry("abort", "txn.change:abort_transaction"),
    Entry("watch", "txn.watch:watch_transactions"),
    Entry("complete", "txn.change:complete_transaction"),
    Entry("fence", "txn.change:fence_transaction"),
)
