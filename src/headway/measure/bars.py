"""Phases as bars of text: the same picture after a run, in a plan, and of a watched query."""

from __future__ import annotations

from collections.abc import Mapping

from headway.units import format_duration

BAR = 24  # letters of the longest bar
SHORTEST_S = 0.0005  # a phase below it is not shown


def bars(phases_s: Mapping[str, float]) -> list[tuple[str, str, str]]:
    """For each phase that can be seen its bar, its name and its time, in order.

    >>> bars({"map": 0.2, "reduce": 0.1, "launch": 0.0})[1]
    ('████████████', 'reduce', '100ms')
    """
    shown = {name: spent for name, spent in phases_s.items() if spent >= SHORTEST_S}
    longest = max(shown.values(), default=0.0)
    return [
        ("█" * max(1, round(spent / longest * BAR)), name, format_duration(round(spent, 4)))
        for name, spent in shown.items()
    ]
