"""The iteration order of Java's hash maps, and its priority queue.

Kafka breaks ties of assignments, and orders records and texts, by them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

_T = TypeVar("_T")
_LOAD_FACTOR = 0.75
_DEFAULT_CAPACITY = 16


def hash_order(keys: Iterable[str], capacity: int = _DEFAULT_CAPACITY, *, grows_late: bool = False) -> list[str]:
    """Return distinct keys in the order in which a `HashMap` iterates them after insertion in the given order.

    `capacity` is the one that the map was made with. `grows_late` means that it was filled by `computeIfAbsent`, which
    grows a full map only before it adds the next key.
    """
    distinct = list(dict.fromkeys(keys))
    if len(distinct) < 2:
        return distinct
    size = 1
    while size < capacity:
        size *= 2
    while len(distinct) - grows_late > int(size * _LOAD_FACTOR):
        size *= 2
    return sorted(distinct, key=lambda key: _bucket(key, size))


def _bucket(key: str, size: int) -> int:
    code = 0
    encoded = key.encode("utf-16-be")
    for position in range(0, len(encoded), 2):
        code = (31 * code + (encoded[position] << 8 | encoded[position + 1])) & 0xFFFFFFFF
    return (code ^ code >> 16) & (size - 1)


class PriorityQueue(Generic[_T]):
    """A binary heap that breaks ties as `java.util.PriorityQueue` does.

    `key` returns the priority of an element and must not change while the element is queued.
    """

    def __init__(self, key: Callable[[_T], float], elements: Iterable[_T] = ()) -> None:
        self._key = key
        self._heap: list[_T] = []
        for element in elements:
            self.add(element)

    def __bool__(self) -> bool:
        """Return whether an element is queued."""
        return bool(self._heap)

    def add(self, element: _T) -> None:
        """Add an element."""
        heap, key = self._heap, self._key
        heap.append(element)
        position = len(heap) - 1
        while position > 0:
            parent = (position - 1) // 2
            if key(element) >= key(heap[parent]):
                break
            heap[position] = heap[parent]
            position = parent
        heap[position] = element

    def poll(self) -> _T:
        """Remove and return the first element.

        Raises:
            IndexError: The queue is empty.
        """
        heap, key = self._heap, self._key
        first, last = heap[0], heap.pop()
        if not heap:
            return first
        position, count = 0, len(heap)
        while (child := 2 * position + 1) < count:
            if child + 1 < count and key(heap[child]) > key(heap[child + 1]):
                child += 1
            if key(last) <= key(heap[child]):
                break
            heap[position] = heap[child]
            position = child
        heap[position] = last
        return first
