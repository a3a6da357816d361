"""A relation that can be computed: Spark SQL with progress columns, its contract and its rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from headway.early.algebra import Term
from headway.early.contracts import Contract
from headway.early.progress import FOREVER, FROM, UNTIL

# Stand for the points of a chunk, and for rows that were kept, put in when it is computed: the
# text stays the same. No query may hold the character that they begin and end with.
MARK = "\0"
FIRST, LAST, ROWS = f"{MARK}first{MARK}", f"{MARK}last{MARK}", f"{MARK}rows{MARK}"
POINT = "hw_point"


@dataclass(frozen=True, slots=True)
class Step:
    """One operator with the rule that computes it, and why that one; what `--explain` shows."""

    operator: str
    rule: str
    because: str
    under: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """Partial results that are kept from chunk to chunk, under the name of a view.

    `partial` gives those of a chunk's own tuples, with the point they enter at; `merge` gives those
    of all earlier chunks, put into it in place of ROWS, as one row for each key.
    """

    view: str
    partial: str
    merge: str


@dataclass(frozen=True, slots=True)
class Relation:
    """Spark SQL that gives tuples with their intervals, over the tables of one chunk.

    `local` says that what enters at a point is made of tuples that enter at that point alone (and
    of those that are there from the start): once it has passed, the point can be forgotten.
    `settled` says that beside what `states` keep, it reads only what is there from the start.
    `as_asked` says that of tuples that are all there Spark makes the very same rows by itself.
    `rows` is how many rows its table has, of a table and what is filtered of it; 0: nobody knows.
    `types` are those of its columns, where they are known.
    """

    sql: str
    columns: tuple[str, ...]
    contract: Contract
    step: Step
    local: bool = False
    states: tuple[State, ...] = ()
    settled: bool = False
    as_asked: bool = True
    rows: int = 0
    types: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def forgets(self) -> bool:
        """Whether a chunk needs no tuple of earlier points, and adds to what they answered."""
        return self.local and self.contract.inclusive and not self.contract.at_start

    @property
    def whole(self) -> str:
        """The SQL without what states keep: of the same columns, and can be asked about at once."""
        sql = self.sql
        for state in self.states:
            sql = sql.replace(f"FROM {state.view}", f"FROM ({state.partial})")
        return sql


@dataclass(frozen=True, slots=True)
class Known:
    """What lowering is told of the data: contracts of tables, and the types of expressions.

    `anew` names the tables that come whole with each chunk: of these, nothing can be forgotten.
    With `keeps_state`, sums read what earlier chunks have left of them. `columns` has the types of
    columns of tables, by their flat names: what is made of these alone is asked about alone.
    `rows` has how many tuples tables have.
    """

    tables: Mapping[str, Contract]
    types: Callable[[str, Sequence[str]], list[str]] = field(
        default=lambda _sql, texts: ["bigint"] * len(texts)
    )
    anew: frozenset[str] = frozenset()
    keeps_state: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)

    def types_in(self, child: Relation, terms: Iterable[Term], texts: Sequence[str]) -> list[str]:
        """The types of expressions over a relation that are made of some terms."""
        read = sorted({column for term in terms for column in term.columns})
        if not read or any(column not in self.columns for column in read):
            return self.types(child.whole, texts)
        nothing = (f"CAST(NULL AS {self.columns[column]}) AS `{column}`" for column in read)
        return self.types(f"SELECT {', '.join(nothing)}", texts)


def quoted(names: Iterable[str]) -> list[str]:
    """Names as Spark SQL writes them when they hold a dot."""
    return [f"`{name}`" for name in names]


def listed(*parts: Iterable[str]) -> str:
    return ", ".join(text for part in parts for text in part)


def stabbed(relation: Relation, columns: Iterable[str] | None = None) -> str:
    """SQL of the relation with one row for each point of the chunk at which a tuple holds."""
    shown = quoted(relation.columns if columns is None else columns)
    return (
        f"SELECT {listed(shown, [POINT])} FROM ({relation.sql}) "
        f"LATERAL VIEW EXPLODE(SEQUENCE(GREATEST({FROM}, {FIRST}), LEAST({UNTIL} - 1, {LAST}))) "
        f"hw AS {POINT} WHERE {FROM} <= {LAST} AND {UNTIL} > {FIRST} AND {FROM} < {UNTIL}"
    )


AT_POINT = (f"{POINT} AS {FROM}", f"{POINT} + 1 AS {UNTIL}")
FROM_START = (f"{FIRST} AS {FROM}", f"{FOREVER} AS {UNTIL}")
AS_IT_WAS = (FROM, UNTIL)
