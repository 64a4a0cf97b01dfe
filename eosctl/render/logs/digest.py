"""Write the sentences about a digest of logs for all report formats."""

from __future__ import annotations

from eosctl.model.log_digest import ClockOffset, Histogram, PauseOutlook, Precursor, Unexplained
from eosctl.render.transactions.watch import sparkline
from eosctl.text import count_text, duration_text, time_text


def precursor_text(one: Precursor) -> str:
    """Describe which records preceded which failures, and how often they would by chance."""
    return (
        f"{one.cause} came before {one.preceded_count} of {one.failure_count} {one.failure}, "
        f"{duration_text(one.typical_lag_ms)} before; by chance it would before {one.expected_share:.0%}"
    )


def unexplained_text(one: Unexplained) -> str:
    """Describe the number of failures without a precursor."""
    return f"Nothing that is rarer elsewhere came before {one.unexplained_count} of {one.failure_count} {one.failure}"


def pause_text(one: PauseOutlook) -> str:
    """Describe the pauses of a JVM in relation to the nearest timeout."""
    text = f"{count_text(one.pause_count, 'pause')}, the longest {one.longest_ms:.1f} ms"
    if not one.nearest:
        return text
    return f"{text}: {one.longest_ms / one.nearest_ms:.1%} of {one.nearest} {duration_text(one.nearest_ms)}"


def clock_text(one: ClockOffset) -> str:
    """Describe the distance of a clock from the coordinators' clock, and its cause if it looks like a time zone."""
    way = "ahead of" if one.offset_ms > 0 else "behind"
    pairs = count_text(one.pair_count, "producer id", "producer ids")
    text = f"{one.application} is {duration_text(abs(one.offset_ms))} {way} the coordinators ({pairs} on both sides)"
    return f"{text}: its time zone was read wrongly, see --zone" if one.is_like_a_zone else text


def histogram_lines(one: Histogram) -> tuple[tuple[str, str], ...]:
    """Draw events and problems over time: a label and a line for each, with the largest count, then the axis."""
    # Where all events are problems, they are drawn once.
    drawn = {counts: label for label, counts in (("events", one.event_counts), ("problems", one.problem_counts))}
    end_ms = one.start_ms + len(one.event_counts) * one.bin_ms
    lines = [
        (label, f"{sparkline([count or None for count in counts], len(counts))}  {_most(one, counts)}")
        for counts, label in drawn.items()
        if any(counts)
    ]
    axis = f"{time_text(one.start_ms)} to {time_text(end_ms)}, {duration_text(one.bin_ms)} a bar"
    return (*lines, ("axis", axis))


def _most(one: Histogram, counts: tuple[int, ...]) -> str:
    most = max(counts)
    moment = time_text(one.start_ms + counts.index(most) * one.bin_ms)
    return f"{sum(counts):,} in all, at most {most:,} a bar, at {moment}"
