"""Every error that headway raises on purpose, each of which says what to do next."""

from __future__ import annotations


class HeadwayError(Exception):
    """Base of all of headway's own errors; its text is fit to be shown to a user as it is."""


class FlowError(HeadwayError, ValueError):
    """A flow that cannot be built or compiled: a wrong column, window, name or expression."""


class GoalError(HeadwayError, ValueError):
    """A goal that does not parse, or that the flow cannot have."""


class QueryError(HeadwayError, ValueError):
    """A question over stored data that cannot be answered as it stands."""


class NoRule(HeadwayError):
    """A part of a query that no rule of early answers covers, so that the query is recomputed."""


class PlanError(HeadwayError):
    """A plan that cannot be made, or a goal that no plan reaches."""


class SchemaMismatch(HeadwayError):
    """A source whose columns do not fit the flow; carries both schemas."""

    def __init__(self, where: str, wanted: str, found: str) -> None:
        super().__init__(where, wanted, found)
        self.where, self.wanted, self.found = where, wanted, found

    def __str__(self) -> str:
        return (
            f"{self.where}: the columns do not fit.\n"
            f"  the flow wants: {self.wanted}\n"
            f"  the source has: {self.found}\n"
            "Declare the schema that the source really has, or point the flow at another source."
        )


class TopicError(HeadwayError):
    """A topic that cannot be read or written: missing, corrupt, or out of space."""


class CheckpointError(HeadwayError):
    """A checkpoint that is missing, damaged, or belongs to another flow."""


class SessionError(HeadwayError):
    """A Spark session that headway cannot work with as it is set."""


class RunError(HeadwayError):
    """A run that stopped because something in it failed."""


class PairError(RunError):
    """A Python pair that raised; carries the record, its key and the traceback."""

    def __init__(self, pair: str, method: str, key: str, record: str, trace: str) -> None:
        super().__init__(pair, method, key, record, trace)
        self.pair, self.method, self.key = pair, method, key
        self.record, self.trace = record, trace

    def __str__(self) -> str:
        return (
            f"{self.pair}.{self.method} raised for key {self.key} on record {self.record}.\n"
            f"{self.trace.rstrip()}\n"
            "Mend the pair, or build the step with on_error='quarantine' to set such records aside."
        )
