"""How many tasks of a query run side by side: what a cost per record is shared among."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lanes:
    """Where a query runs.

    cores     of all nodes together
    reducers  tasks that reduce, fixed for the life of a checkpoint
    """

    cores: int = 1
    reducers: int = 1

    def mapping(self, readers: int) -> int:
        """How many tasks read and map at the same time.

        >>> Lanes(cores=4).mapping(readers=2), Lanes(cores=4).mapping(readers=9)
        (2, 4)
        """
        return max(1, min(readers, self.cores))

    def starting(self, readers: int) -> float:
        """How many tasks a core starts; another node has cores of its own.

        >>> Lanes(cores=2, reducers=2).starting(readers=2)
        2.0
        """
        return (readers + self.reducers) / self.cores

    @property
    def reducing(self) -> int:
        """How many tasks reduce at the same time."""
        return max(1, min(self.reducers, self.cores))
