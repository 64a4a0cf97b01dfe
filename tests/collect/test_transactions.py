import asyncio

from eosctl.collect.cluster import collect_topics_of_transactions
from eosctl.collect.reader import ReadOnly
from eosctl.collect.transactions import TransactionQuery, read_transactions
from eosctl.model.evidence import EvidenceKind, GapReason
from eosctl.model.snapshot import PartitionInfo, Topic
from eosctl.model.transaction import ProducerState, TopicPartition, Transaction
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import describe_producers as dp
from eosctl.wire.messages import describe_transactions as dt
from eosctl.wire.messages import list_transactions as lt
from eosctl.wire.messages import metadata as md

ORDERS = TopicPartition("orders", 0)


def partition(where, leader):
    return PartitionInfo(where, leader, 0, (1, 2), (1, 2))


def producers(request):
    states = [dp.ProducerState(9, 2, 4, 1_000, 7, 15), dp.ProducerState(3, 0, 1, 900, -1, -1)]
    return dp.DescribeProducersResponse(
        topics=[
            dp.TopicResponse(
                topic.name,
                [dp.PartitionResponse(index, active_producers=states) for index in topic.partition_indexes],
            )
            for topic in request.topics
        ]
    )


def details(request):
    return dt.DescribeTransactionsResponse(
        transaction_states=[
            dt.TransactionState(0, "app", "Ongoing", 60_000, 5_000, 9, 2, [dt.TopicData("orders", [0])]),
            dt.TransactionState(int(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND), "expired"),
            dt.TransactionState(int(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED), "secret"),
        ]
    )


def listing(*ids):
    return lt.ListTransactionsResponse(transaction_states=[lt.TransactionState(i, 9, "Ongoing") for i in ids])


def look(cluster, brokers, partitions, query=TransactionQuery(), before=None):  # noqa: B008 - immutable
    clock = iter(range(100, 200))
    return asyncio.run(read_transactions(ReadOnly(cluster), brokers, partitions, lambda: next(clock), query, before))


def test_leaders_are_asked_before_coordinators(cluster):
    cluster.on(1, ApiKey.DESCRIBE_PRODUCERS, producers)
    cluster.on(1, ApiKey.LIST_TRANSACTIONS, listing("app", "expired", "secret"))
    cluster.on(1, ApiKey.DESCRIBE_TRANSACTIONS, details)
    answer = look(cluster, [1], [partition(ORDERS, 1)])
    assert [key for _, key, _ in cluster.asked] == [
        ApiKey.DESCRIBE_PRODUCERS,
        ApiKey.LIST_TRANSACTIONS,
        ApiKey.DESCRIBE_TRANSACTIONS,
    ]
    assert (answer.value.started_at_ms, answer.value.finished_at_ms) == (100, 101)
    (found,) = answer.value.producers
    assert found.producers == (
        ProducerState(3, 0, 1, 900, -1, None),
        ProducerState(9, 2, 4, 1_000, 7, 15),
    )
    by_id = {t.transactional_id: t for t in answer.value.transactions}
    assert by_id["app"] == Transaction("app", 1, 9, "Ongoing", 2, 60_000, 5_000, (ORDERS,))
    assert not by_id["expired"].described
    assert not by_id["secret"].described
    assert [(gap.subject, gap.reason) for gap in answer.gaps] == [("secret", GapReason.NOT_AUTHORIZED)]


def test_a_broker_that_is_down_leaves_gaps_and_the_rest(cluster):
    cluster.down.add(2)
    cluster.on(1, ApiKey.DESCRIBE_PRODUCERS, producers)
    cluster.on(1, ApiKey.LIST_TRANSACTIONS, listing())
    other = TopicPartition("orders", 1)
    answer = look(cluster, [1, 2], [partition(ORDERS, 1), partition(other, 2), partition(TopicPartition("x", 0), None)])
    assert [found.partition for found in answer.value.producers] == [ORDERS]
    assert {(gap.kind, gap.subject, gap.reason) for gap in answer.gaps} == {
        (EvidenceKind.PRODUCERS, "broker 2", GapReason.UNREACHABLE),
        (EvidenceKind.PRODUCERS, "x-0", GapReason.NO_LEADER),
        (EvidenceKind.TRANSACTIONS, "broker 2", GapReason.UNREACHABLE),
    }


def test_a_coordinator_that_is_loading_is_a_gap(cluster):
    loading = lt.ListTransactionsResponse(error_code=int(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))
    cluster.on(1, ApiKey.LIST_TRANSACTIONS, loading)
    answer = look(cluster, [1], [])
    assert [(gap.subject, gap.reason) for gap in answer.gaps] == [("broker 1", GapReason.LOADING)]


def test_many_partitions_are_asked_for_in_bounded_requests(cluster):
    cluster.on(1, ApiKey.DESCRIBE_PRODUCERS, producers)
    many = [partition(TopicPartition("orders", index), 1) for index in range(1_201)]
    answer = look(cluster, [], many)
    sizes = [sum(len(t.partition_indexes) for t in request.topics) for _, _, request in cluster.asked]
    assert sizes == [500, 500, 201]
    assert len(answer.value.producers) == 1_201


def test_brokers_are_asked_to_filter(cluster):
    cluster.on(1, ApiKey.LIST_TRANSACTIONS, listing())
    look(cluster, [1], [], TransactionQuery(("Ongoing",), (9, 4), 60_000))
    ((_, _, request),) = cluster.asked
    assert request == lt.ListTransactionsRequest(("Ongoing",), (9, 4), 60_000)


def test_idle_ids_are_described_only_if_open_at_a_leader(cluster):
    states = [("open", 1, "Ongoing"), ("idle", 2, "Empty"), ("late", 9, "CompleteCommit"), ("new", 5, "Unheard")]
    cluster.on(1, ApiKey.DESCRIBE_PRODUCERS, producers)
    cluster.on(
        1,
        ApiKey.LIST_TRANSACTIONS,
        lt.ListTransactionsResponse(transaction_states=[lt.TransactionState(*state) for state in states]),
    )
    cluster.on(
        1,
        ApiKey.DESCRIBE_TRANSACTIONS,
        lambda request: dt.DescribeTransactionsResponse(
            transaction_states=[dt.TransactionState(0, name, "Ongoing") for name in request.transactional_ids]
        ),
    )
    answer = look(cluster, [1], [partition(ORDERS, 1)], TransactionQuery(describe_idle=False))
    described = {t.transactional_id: t.described for t in answer.value.transactions}
    assert described == {"open": True, "idle": False, "late": True, "new": True}


def test_a_second_reading_requests_only_possible_changes(cluster):
    def listing_of(*states):
        return lambda request: lt.ListTransactionsResponse(
            transaction_states=[
                lt.TransactionState(*state)
                for state in states
                if not request.state_filters or state[2] in request.state_filters
            ]
        )

    def described_as(**states):
        return lambda request: dt.DescribeTransactionsResponse(
            transaction_states=[
                dt.TransactionState(states[name][1], name, states[name][0]) for name in request.transactional_ids
            ]
        )

    gone, moved = int(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND), int(ErrorCode.NOT_COORDINATOR)
    names = ("open", "ended", "expired", "moved", "idle", "held", "began")
    busy = ("open", "ended", "expired", "moved")
    cluster.on(
        1,
        ApiKey.LIST_TRANSACTIONS,
        listing_of(*((name, 9 if name == "held" else 1, "Ongoing" if name in busy else "Empty") for name in names)),
    )
    cluster.on(
        1,
        ApiKey.DESCRIBE_TRANSACTIONS,
        lambda request: dt.DescribeTransactionsResponse(
            transaction_states=[
                dt.TransactionState(
                    0, name, "Ongoing" if name in busy else "Empty", producer_id=9 if name == "held" else 1
                )
                for name in request.transactional_ids
            ]
        ),
    )
    first = look(cluster, [1], []).value
    cluster.asked.clear()
    cluster.on(1, ApiKey.DESCRIBE_PRODUCERS, producers)
    cluster.on(
        1, ApiKey.LIST_TRANSACTIONS, listing_of(("open", 1, "Ongoing"), ("began", 1, "Ongoing"), ("idle", 1, "Empty"))
    )
    cluster.on(
        1,
        ApiKey.DESCRIBE_TRANSACTIONS,
        described_as(
            open=("Ongoing", 0), began=("Ongoing", 0), ended=("CompleteCommit", 0), held=("Empty", 0),
            expired=("", gone), moved=("", moved),
        ),
    )  # fmt: skip
    second = look(cluster, [1], [partition(ORDERS, 1)], before=first)
    ((_, _, asked),) = [asked for asked in cluster.asked if asked[1] == ApiKey.DESCRIBE_TRANSACTIONS]
    assert sorted(asked.transactional_ids) == ["began", "ended", "expired", "held", "moved", "open"]
    states = {t.transactional_id: t.state for t in second.value.transactions}
    assert states == {
        "open": "Ongoing",
        "began": "Ongoing",
        "ended": "CompleteCommit",
        "held": "Empty",
        "idle": "Empty",
    }
    assert second.gaps == ()


def described(*topics):
    return lambda request: md.MetadataResponse(
        topics=[
            next((topic for topic in topics if topic.name == asked.name), unknown(asked.name))
            for asked in request.topics
        ]
    )


def unknown(name):
    return md.MetadataResponseTopic(int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), name)


def topics_of(cluster, *transactions):
    known = (Topic("orders", "o", False, ()),)
    return asyncio.run(collect_topics_of_transactions(ReadOnly(cluster), known, transactions))


def writing_to(*names):
    where = tuple(TopicPartition(name, 0) for name in names)
    return Transaction("app", 2, 9, "Ongoing", 2, 60_000, 5_000, where)


def test_the_coordinator_is_asked_for_topics_missing_in_metadata(cluster):
    new = md.MetadataResponseTopic(0, "new", partitions=[md.MetadataResponsePartition(0, 0, 1)])
    cluster.on(1, ApiKey.METADATA, described())
    cluster.on(2, ApiKey.METADATA, described(new))
    answer = topics_of(cluster, writing_to("orders", "new", "deleted"))
    assert [topic.name for topic in answer.value] == ["new", "orders"]
    assert not answer.gaps
    assert [(node, [topic.name for topic in request.topics]) for node, _, request in cluster.asked] == [
        (2, ["deleted", "new"])
    ]


def test_topics_of_transactions_may_be_hidden(cluster):
    refused = md.MetadataResponseTopic(int(ErrorCode.TOPIC_AUTHORIZATION_FAILED), "secret")
    cluster.on(2, ApiKey.METADATA, described(refused))
    answer = topics_of(cluster, writing_to("secret"))
    assert [(gap.kind, gap.subject, gap.reason) for gap in answer.gaps] == [
        (EvidenceKind.TOPICS, "secret", GapReason.NOT_AUTHORIZED)
    ]


def test_known_topics_cost_no_request(cluster):
    assert topics_of(cluster, writing_to("orders")).value == (Topic("orders", "o", False, ()),)
    assert not cluster.asked


def test_a_silent_coordinator_leaves_its_topics_open(cluster):
    cluster.down.add(2)
    answer = topics_of(cluster, writing_to("a", "b"))
    assert [(gap.subject, gap.reason) for gap in answer.gaps] == [
        ("a", GapReason.UNREACHABLE),
        ("b", GapReason.UNREACHABLE),
    ]
