"""Where every record that arrived is now; the parts must add up."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Account:
    """Counts of records by fate, each counted where it happens and not derived from the others.

    arrived      in the topic, counted by the topic
    answered     in published batches, counted by Spark
    quarantined  set aside with a reason (unreadable, late, failed), counted in the quarantine
    waiting      not yet admitted, or in a batch that is not yet published, counted by the gate
    blank        places in the topic that hold no record (Kafka's marks of transactions), counted
                 when they are read; before that they are waiting
    """

    arrived: int = 0
    answered: int = 0
    quarantined: int = 0
    waiting: int = 0
    blank: int = 0

    @property
    def unexplained(self) -> int:
        """Records that no part accounts for: 0 unless something was lost or counted twice.

        >>> Account(arrived=10, answered=7, quarantined=1, waiting=2).unexplained
        0
        """
        return self.arrived - self.answered - self.quarantined - self.waiting - self.blank

    @property
    def balanced(self) -> bool:
        """Whether each record that arrived is in exactly one place."""
        return self.unexplained == 0

    def after(self, *, answered: int, quarantined: int) -> Account:
        """This account after another batch was published."""
        return replace(
            self,
            answered=self.answered + answered,
            quarantined=self.quarantined + quarantined,
        )

    def __str__(self) -> str:
        text = (
            f"{self.arrived} arrived = {self.answered} answered + {self.quarantined} quarantined "
            f"+ {self.waiting} waiting"
        ) + (f" + {self.blank} blank" if self.blank else "")
        return text if self.balanced else f"{text} + {self.unexplained} UNEXPLAINED"
