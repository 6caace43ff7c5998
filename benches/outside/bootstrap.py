"""The 95 per cent interval of a difference between two systems on the same pages."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from measures import Row, score
from sets import Kind

SEED = 20
RESAMPLES = 2_000


@dataclass(frozen=True)
class Difference:
    """F1 of one system minus F1 of another."""

    value: float
    low: float
    high: float

    def is_worse(self) -> bool:
        """Whether the first system is worse beyond the interval."""
        return self.high < 0

    def __str__(self) -> str:
        return f"{self.value:+.4f} [{self.low:+.4f}, {self.high:+.4f}]"


def difference(kind: Kind, ours: Sequence[Row], theirs: Sequence[Row]) -> Difference:
    """A paired bootstrap: each resample draws pages, and both systems are scored on the same draw."""
    random_pages = random.Random(SEED)
    numbers = range(len(ours))
    values = []
    for _ in range(RESAMPLES):
        drawn = random_pages.choices(numbers, k=len(ours))
        values.append(score(kind, [ours[n] for n in drawn]).f1 - score(kind, [theirs[n] for n in drawn]).f1)
    values.sort()
    low, high = values[round(0.025 * RESAMPLES)], values[round(0.975 * RESAMPLES) - 1]
    return Difference(score(kind, ours).f1 - score(kind, theirs).f1, low, high)
