"""Follow topics in one process, and yield each event once, when it is complete."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import tzinfo

from eosctl.logs.classifier.classify import Classifier
from eosctl.logs.topics.address import EARLIEST, LATEST, Topics
from eosctl.logs.topics.consumer import Cluster, connect
from eosctl.logs.topics.plan import cut_parts, scan_with
from eosctl.logs.topics.tail import Offsets, TopicTail, between, everything, place_of
from eosctl.model.log_event import LogEvent


class Follower:
    """Reads the topics of one cluster as they grow; created by :func:`following`."""

    def __init__(
        self,
        topics: Topics,
        cluster: Cluster,
        tail: TopicTail,
        start: Offsets,
        zone: tzinfo | None,
        on_loss: Callable[[str], None],
    ) -> None:
        self._topics = topics
        self._cluster = cluster
        self._tail = tail
        self._known = dict(start)
        self._zone = zone
        self._on_loss = on_loss

    def read(self, classifier: Classifier, *, whole: bool = False) -> Iterator[LogEvent]:
        """Yield the new events; with ``whole``, also those that may still grow.

        Raises:
            TopicError: The topics cannot be read.
        """
        ends = everything(self._cluster) if whole else self._tail.ends(self._cluster, self._known)
        for topic, number, first, stop in between(self._known, ends):
            low, _ = self._cluster.bounds(topic, number)
            for part in cut_parts(self._topics, topic, number, first, stop, low, self._zone):
                scan = scan_with(self._cluster, part, classifier)
                if scan.counts.error:
                    self._on_loss(scan.counts.error)
                yield from scan.events
        self._known.update(ends)


@contextmanager
def following(
    clusters: Sequence[Topics],
    idle_ms: int,
    zone: tzinfo | None,
    *,
    from_start: bool,
    on_loss: Callable[[str], None] = lambda _: None,
) -> Iterator[list[Follower]]:
    """Follow topics while the ``with`` block runs, from their current end unless they specify a start.

    ``on_loss`` is called for records that retention deleted before they were read.

    Raises:
        TopicError: Topics cannot be read.
    """
    with ExitStack() as stack:
        followers = []
        for topics in clusters:
            cluster = stack.enter_context(connect(topics, gives_up=True))
            start = place_of(cluster, topics.start or (EARLIEST if from_start else LATEST))
            followers.append(
                Follower(
                    topics=topics, cluster=cluster, tail=TopicTail(idle_ms), start=start, zone=zone, on_loss=on_loss
                )
            )
        yield followers
