"""Load that comes in bursts, as a schedule that a replay accepts for its rate."""

from __future__ import annotations

from headway.units import Duration, parse_micros


def bursts(
    base: float, peak: float, every: Duration, length: Duration, times: int = 100
) -> list[tuple[Duration, float]]:
    """A rate of `base` per second that rises to `peak` for `length` at the end of each `every`.

    A schedule ends with its last rate for ever, so `times` bursts are followed by `base`.

    >>> bursts(1_000, 5_000, every="30ms", length="5ms", times=1)
    [('25000us', 1000), ('5000us', 5000), ('1s', 1000)]
    """
    every_us, length_us = parse_micros(every, "every"), parse_micros(length, "length")
    if not 0 < length_us < every_us:
        raise ValueError(f"a burst must be shorter than its period; got {length!r} in {every!r}")
    if times < 1:
        raise ValueError(f"there must be at least one burst; got times={times!r}")
    calm: tuple[Duration, float] = (f"{every_us - length_us}us", base)
    burst: tuple[Duration, float] = (f"{length_us}us", peak)
    return [calm, burst] * times + [("1s", base)]
