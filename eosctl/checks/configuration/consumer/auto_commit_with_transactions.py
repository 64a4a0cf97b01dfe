"""EOS-CFG-021."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.checks.configuration.clients import SHARE_SETTINGS, share_setting, transactional_producers_near
from eosctl.checks.configuration.problem import problem
from eosctl.checks.declaration import Area, Case, Problem, check
from eosctl.model.deployment import Component, Role
from eosctl.model.severity import Severity
from eosctl.settings.names.setting_names import COMMIT_STRATEGY


@check(
    "EOS-CFG-021",
    "Offsets are committed outside of the transaction",
    Area.CONFIGURATION,
    Severity.CRITICAL,
    roles=(Role.CONSUMER,),
    reads=("enable.auto.commit", COMMIT_STRATEGY, "transactional.id", *SHARE_SETTINGS),
    needs_presence_of=("transactional.id",),
    references=("KIP-98", "KIP-447", "KIP-932"),
)
def auto_commit_with_transactions(case: Case) -> Iterator[Problem]:
    """Find applications that write in transactions and commit their offsets on a timer.

    What it checks:
        enable.auto.commit=true, written or by default, in an application whose producer has a transactional id.
        The default is information where variables alone are known: the program sets the rest.
        And a commit-strategy other than ignore on an incoming channel of SmallRye's (Quarkus) in such an application:
        written it is an error; the connector's default, throttled, is information, as the channel may take no part in
        the transactions.
        And share consumers (share.acknowledgement.mode, share.acquire.mode) in such an application.

    Why it matters for exactly-once:
        Offsets that are committed on a timer do not belong to the transaction: after an abort they point behind
        records that were never processed, after a crash before records that were.
        What a share consumer acknowledges belongs to none either: KafkaShareConsumer has no groupMetadata() that
        sendOffsetsToTransaction could take.

    Example:
        A consume-transform-produce loop whose consumer keeps the default.

    Fix:
        Set enable.auto.commit=false and send the offsets with sendOffsetsToTransaction and the group's metadata. For a
        channel of SmallRye's, set commit-strategy=ignore, and give KafkaTransactions the message.

    Verify:
        eosctl config lint reports it no longer.
    """
    for consumer in case.deployment.of(Role.CONSUMER):
        auto = consumer.value("enable.auto.commit")
        writers = transactional_producers_near(case.deployment, consumer)
        if not writers or consumer.inside in (Role.STREAMS, Role.CONNECT_WORKER, Role.FLINK):
            continue
        shared = share_setting(consumer)
        if shared is not None:
            yield problem(
                consumer,
                (shared, writers[0].value("transactional.id")),
                f"{shared.key} makes it a share consumer, and the application writes in transactions.",
                severity=Severity.ERROR,
                impact="Acknowledgements belong to no transaction: a failure loses records or repeats them.",
                remedy="Read with a KafkaConsumer and commit offsets with sendOffsetsToTransaction.",
            )
            continue
        strategy = consumer.value(COMMIT_STRATEGY)
        if auto.flag is False and strategy.word is not None and strategy.word.lower() != "ignore":
            yield problem(
                consumer,
                (strategy, writers[0].value("transactional.id")),
                f"{strategy.key} is {strategy.word}{'' if strategy.is_given else ' by default'}, "
                "and the application writes in transactions.",
                severity=Severity.ERROR if strategy.is_given else Severity.INFO,
                impact="The connector commits offsets outside of the transaction, also after it aborts.",
                remedy=f"Set {COMMIT_STRATEGY}=ignore where KafkaTransactions commits the offsets of this channel.",
            )
        if auto.flag is not True:
            continue
        default = Severity.INFO if _is_of_variables(consumer) else Severity.WARNING
        yield problem(
            consumer,
            (auto, writers[0].value("transactional.id")),
            f"{auto.key} is true{'' if auto.is_given else ' by default'}, and the application writes in transactions.",
            severity=None if auto.is_given else default,
            impact="Offsets are committed even if the transaction aborts: records are lost or processed twice.",
            remedy="Set enable.auto.commit=false and commit offsets with sendOffsetsToTransaction.",
        )


def _is_of_variables(consumer: Component) -> bool:
    """Return whether nothing but environment variables is known of a consumer's settings."""
    return bool(consumer.given) and all(value.key.isupper() for value in consumer.given.values())
