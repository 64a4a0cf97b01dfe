"""A record that reports no error is not an event; a record that reports one is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.logs.classifier.classify import Classifier
from eosctl.logs.classifier.mentions import counts_nothing, is_report
from eosctl.logs.records.record import Record
from eosctl.model.log_event import UNCLASSIFIED

NAMES = (
    *("REQUEST_TIMED_OUT", "ProducerFencedException", "PRODUCER_FENCED", "NOT_LEADER_OR_FOLLOWER"),
    *("org.apache.kafka.common.errors.OutOfOrderSequenceException", "TransactionAbortableError", "UnknownMemberId"),
)
DENIALS = (
    *("no {}", "no {} in the last hour", "no more {} since the restart", "without {}", "went on without any {}"),
    *("no sign of {}", "no NOT_COORDINATOR or {} seen", "zero {} errors", "never saw a {}", "did not get {} again"),
    *("it wasn't a {} this time", "free of {}", "not caused by {}", "{} was not seen", "{} has not occurred since"),
    *("{}: none", "{}=0", "{} errors: 0, batches: 17", "{} count = 0", "0 {}", "batches: 17, 0 {}", "with 0 {} errors"),
    *("3 {} in the last hour", "{}=17 over the past 5 minutes", "{}: 4 since startup", "17 {} errors so far"),
    *("No {} while 5 batches went", "neither '{}' nor anything else"),
    *("Will retry on {}", "Will retry on NOT_COORDINATOR and {}", "Handling of {} is enabled, policy=restart"),
    *("Registered error handlers: [TimeoutException, {}]", "retryableExceptions=[TimeoutException, {}]"),
    *("fatal errors that stop it: {}, OutOfOrderSequenceException", "INVALID_TXN_STATE and {} end the process"),
    *("in case of {} the producer is created anew", "{} handling enabled", "would be restarted on {}"),
)
REPORTS = (
    *("{}", "Error: {}", "failed with {}: no leader", "Offset 0 is late: {}", "no progress: {}", "partition: 0, {}"),
    *("got {} from broker 0", "could not send: {}", "3 attempts, {}", "not retrying, error {}", "{} (attempt 0)"),
    *("cannot go on due to {}", "request was not sent because of {}", "{}: 0 of 3 partitions are led", "node 0: {}"),
    *(
        "retrying on {}",
        "Handling {}",
        "handler failed: {}",
        "Got retriable error: {}",
        "aborted in the handler due to {}",
    ),
    *("produce failed for orders: {}, REQUEST_TIMED_OUT", "aborted with {} and NOT_COORDINATOR"),
    *("without a coordinator: {}", "17 {} while sending", "no rest for {} and the like\nCaused by: {}"),
)


def category_of(classifier: Classifier, message: str, level: str = "INFO") -> str | None:
    """Classify a single message; ``None`` if it is not an event."""
    head, _, rest = message.partition("\n")
    found = classifier.classify(Record(0, 0, "", level, "", "a.B", "", head, rest))
    return None if found is None else found.category


@pytest.fixture(scope="module")
def classifier() -> Classifier:
    return Classifier()


@pytest.mark.parametrize("form", DENIALS)
def test_a_negation_or_a_count_for_a_period_is_not_an_event(classifier: Classifier, form: str) -> None:
    for name in NAMES:
        assert category_of(classifier, form.format(name)) is None, name


@pytest.mark.parametrize("form", REPORTS)
def test_what_happened_is_an_event(classifier: Classifier, form: str) -> None:
    for name in NAMES:
        assert category_of(classifier, form.replace("{}", name)) not in (None, UNCLASSIFIED), name


@pytest.mark.parametrize(
    ("message", "category"),
    [
        ("Offset 0 is out of range for partition a-1", "OFFSET_OUT_OF_RANGE"),
        ("[Producer clientId=a] Node 0 disconnected.", "NETWORK_DISCONNECT"),
        ("write failed: No space left on device", "DISK_ERROR"),
        ("Group coordinator h:9092 (id: 0 rack: null) is unavailable or invalid", "COORDINATOR_UNAVAILABLE"),
        ("Found no record of producerId=7 on the broker", "UNKNOWN_PRODUCER_ID"),
        ("no REQUEST_TIMED_OUT, but the producer 7 has been fenced", "PRODUCER_FENCED"),
        ("no TimeoutException before; java.util.concurrent.TimeoutException: late", "TIMEOUT_OTHER"),
    ],
)
def test_text_that_only_resembles_a_negation_is_an_event(classifier: Classifier, message: str, category: str) -> None:
    assert category_of(classifier, message) == category


def test_an_error_that_negates_another_one_is_an_error(classifier: Classifier) -> None:
    assert category_of(classifier, "no REQUEST_TIMED_OUT, and yet no answer", "ERROR") == UNCLASSIFIED


def test_a_count_of_zero_hides_no_other_count() -> None:
    for first, second in ((0, 5), (5, 0)):
        classifier = Classifier()
        categories = [category_of(classifier, f"{count} REQUEST_TIMED_OUT") for count in (first, second, first)]
        assert [one is None for one in categories] == [first == 0, second == 0, first == 0]


def test_a_count_of_zero_does_not_make_its_form_irrelevant() -> None:
    classifier = Classifier()
    record = Record(0, 0, "", "INFO", "", "a.B", "", "0 REQUEST_TIMED_OUT", "", key=b"0 REQUEST_TIMED_OUT")
    for _ in range(3):
        assert classifier.classify(record) is None
    assert not classifier.forms.is_irrelevant(record.key)


@given(st.text("0159 no=:REQUEST_TIMED_OUTin the last hour\n.,", max_size=80), st.data())
def test_digits_decide_only_where_a_name_is_counted_with_zero(text: str, data: st.DataObject) -> None:
    name = "REQUEST_TIMED_OUT"
    text = f"{text}{name}{text}"
    digits = data.draw(st.lists(st.sampled_from("159"), min_size=len(text), max_size=len(text)))
    other = "".join(digit if old in "159" else old for old, digit in zip(text, digits, strict=True))
    start = text.index(name)
    if not counts_nothing(text):
        raised = other.replace("0", "5")
        assert is_report(text, start, start + len(name)) is is_report(raised, start, start + len(name))
