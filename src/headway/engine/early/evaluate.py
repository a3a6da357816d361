"""One question in SQL evaluated by chunk: by rules where there are some, else point by point."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, reduce

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, MapType, StructType

from headway.early.algebra import Query
from headway.early.chunks import Chunk
from headway.early.contracts import MOVING, Contract
from headway.early.lower import lower_query
from headway.early.progress import FOREVER, FROM, UNTIL
from headway.early.read.query import read_query
from headway.early.read.total import is_ordered, totally_ordered
from headway.early.relation import AS_IT_WAS, Known, Relation, Step
from headway.early.rules.types import flat_types
from headway.engine.early.answers import Shape, order_by
from headway.engine.early.by_point import THE_TASK, PointsJob, frame_by_point, job_by_point
from headway.engine.early.states import States
from headway.engine.early.storage import Stored, type_text
from headway.engine.early.views import Job, Tables, analysed, anew, collected, understood
from headway.errors import NoRule, QueryError

NO_ORDER = "INVALID_ORDERING_TYPE"  # what Spark says of what cannot be sorted by
PLACE = "hw_place"
NESTED = (ArrayType, MapType, StructType)


@dataclass(frozen=True)
class SqlPlan:
    """How a question in SQL is answered: its query as the algebra has it, its shape, its rules.

    `single` answers one point, whose tuples are all there. A query that the algebra lacks is
    recomputed at each point; `missing` says what it lacks. `asked` is the question as Spark
    understands it, and if it is `at_first` over the tuples of the first point.
    """

    tables: Tables
    sql: str
    asked: DataFrame = field(compare=False)
    at_first: bool
    query: Query | None = None
    single: Relation | None = None
    missing: str = ""
    states: States = field(default_factory=States, compare=False)

    @property
    def refused(self) -> set[str]:
        """Ways that Spark won't go, or for no gain; known still when the same is asked again."""
        named = (one.by_point for one in self.tables.stored.values() if isinstance(one, Stored))
        return refusals_of(self.sql, self.tables.points, tuple(named))

    @cached_property
    def many(self) -> Relation:
        """The relation that answers several points at once, by the contracts of the tables."""
        return self._lowered({name: one.contract for name, one in self.tables.stored.items()})

    @cached_property
    def keeping(self) -> Relation | None:
        """The same as `many` by what earlier chunks have left, or None if there is too little."""
        if self.query is None or self.many.forgets:
            return None
        contracts = {name: one.contract for name, one in self.tables.stored.items()}
        found = self._lowered(contracts, keeps_state=True)
        return found if found.states and found.settled else None

    def _lowered(self, contracts: dict[str, Contract], keeps_state: bool = False) -> Relation:
        assert self.query is not None
        known = known_of(self.tables, self.query, contracts, keeps_state)
        return lower_query(self.query, known)

    @cached_property
    def schema(self) -> StructType:
        """The columns of the answer as Spark names and types them."""
        return self.asked.schema

    @property
    def said(self) -> str:
        return self.sql

    @property
    def forgets(self) -> bool:
        """Whether each chunk adds to what earlier ones answered, and needs none of their tuples."""
        return self.query is not None and self.many.forgets

    @property
    def slices(self) -> bool:
        """Whether a chunk reads its own tuples and no earlier ones."""
        return self.forgets or self.keeping is not None

    @property
    def contract(self) -> Contract:
        """What is known of the progress of the answer's rows, by the names it gives columns."""
        if self.query is None:
            return MOVING
        names = zip(self.many.columns, self.schema.names, strict=False)
        return self.many.contract.over({column: (name.lower(),) for column, name in names})

    @cached_property
    def shape(self) -> Shape:
        """The columns of the answer, and what orders its rows."""
        names = tuple(self.schema.names)
        if self.query is None or self.single is None:
            placed = self.in_its_order is not None
            return Shape(names, ((len(names), False, False),) if placed else ())
        return Shape(names, order_by(self.single.columns, self.query.order))

    @cached_property
    def in_its_order(self) -> str | None:
        """The question with ties of its ORDER BY broken by all columns, for who recomputes it.

        None if it has no order, or shows what has none.
        """
        if not is_ordered(self.sql):
            return None
        with suppress(QueryError):
            text = totally_ordered(self.sql, wholly=True)
            found = analysed(self.tables.session, self.tables.unread(text)).schema
            # Said anew it must still be the same question, as far as types tell.
            if [one.dataType for one in found] == [one.dataType for one in self.schema]:
                return text
        return None

    @cached_property
    def as_asked(self) -> bool:
        """Whether tuples that are all there are answered by the very question that the user wrote.

        Nothing of progress need be said of them, so Spark has less to read and to plan. What is
        left out is what Spark makes otherwise than our rules do (values within values may be null
        or not), and what is ordered by columns that are not shown.
        """
        if self.query is None or self.single is None or not self.at_first:
            return False
        if any(isinstance(one.dataType, NESTED) for one in self.schema):
            return False
        return self.single.as_asked and len(self.single.columns) == len(self.query.shown)

    @property
    def step(self) -> Step:
        """Which rule computes each operator, and why."""
        if self.query is None:
            return step_without_rule(self)
        return self.many.step

    def frame(self, chunk: Chunk) -> DataFrame:
        """The rows of all answers of a chunk with their intervals, not computed yet."""
        if chunk.last == 0 and self.as_asked:
            return lasting(anew(self.asked), 0, FOREVER)
        if self.query is None or self.single is None:
            return reduce(DataFrame.unionAll, map(self._recomputed, chunk.points))
        relation, alone = self._chosen(chunk)
        if relation is self.keeping:
            self.states.advance(self.tables, relation.states, chunk)
        sql = typed(relation, self.schema, AS_IT_WAS)
        return analysed(self.tables.session, self.tables.filled(sql, chunk, alone))

    def _recomputed(self, point: int) -> DataFrame:
        """One point by itself, over its tuples: always right, only slower.

        Where rows have an order a hidden column tells their places.
        """
        text = self.in_its_order or totally_ordered(self.sql)
        rows = analysed(self.tables.session, self.tables.stabbed(text, point))
        if self.in_its_order is not None:
            rows = rows.select("*", F.monotonically_increasing_id().alias(PLACE))
        return lasting(rows, point, point + 1 if point < self.tables.points - 1 else FOREVER)

    def _chosen(self, chunk: Chunk) -> tuple[Relation, bool]:
        """The relation that answers a chunk, and whether it reads the chunk's own tuples alone.

        What a last chunk keeps nobody reads: where nothing was kept before it, it costs less to
        answer it as if nothing ever were.
        """
        goes_on, is_last = self.states.reach(chunk), chunk.last == self.tables.points - 1
        if chunk.first > 0 and self.keeping is not None and (goes_on or not is_last):
            return self.keeping, goes_on
        alone = chunk.first > 0 and self.many.forgets
        if self.single is not None and chunk.first == chunk.last and not alone:
            return self.single, alone
        return self.many, alone

    def job(self, chunk: Chunk) -> Job | PointsJob:
        """The job that computes a chunk for whoever asks.

        Of tuples of a single point nothing need be said of progress: they are simply there.
        """
        point = chunk.last
        if point == 0 and self.as_asked:
            return Job(anew(self.asked), point)
        if chunk.first < point and self.forgets and (apart := self._by_point(chunk)) is not None:
            return apart
        if self.single is None or chunk.first < point or (point > 0 and not self.many.forgets):
            found = self._by_file(chunk)
            return Job(self.frame(chunk) if found is None else found)
        text = self.tables.filled(typed(self.single, self.schema), chunk, alone=point > 0)
        return Job(analysed(self.tables.session, text), point)

    def _by_point(self, chunk: Chunk) -> PointsJob | None:
        """The job that has tasks for each point, if Spark plans it so; it is asked until it won't.

        Whether a table is sent to all tasks depends on its size, which a later chunk's may exceed.
        """
        if self.single is None or "by task" in self.refused:
            return None
        found = job_by_point(self.tables, typed(self.single, self.schema, (THE_TASK,)), chunk)
        if found is None:
            self.refused.add("by task")
        return found

    def _by_file(self, chunk: Chunk) -> DataFrame | None:
        """The same as `frame` from the files of each point, if no row is sent to one of them.

        Stages hand over no such rows: who reads those might send others to where they lie.
        """
        if self.query is None or chunk.first == chunk.last or "by file" in self.refused:
            return None
        relation, alone = self._chosen(chunk)
        if relation is not self.many:
            return None
        sql = typed(relation, self.schema, AS_IT_WAS)
        found, once_more = frame_by_point(self.tables, sql, chunk, alone)
        if not once_more:
            self.refused.add("by file")
        return found

    def compute(self, chunk: Chunk) -> pa.Table:
        """The rows of all answers of a chunk, with their intervals."""
        if self.query is not None:
            return self.job(chunk).rows()
        return pa.concat_tables(collected(self.frame(Chunk(p, p))) for p in chunk.points)


def step_without_rule(plan: SqlPlan) -> Step:
    """Why a question is recomputed at each point, and what is lost by that."""
    said = f"no rule for {plan.missing}"
    if is_ordered(plan.sql) and plan.in_its_order is None:
        said += "; rows are in no order: the ties of its ORDER BY cannot be broken"
    return Step("query", "recompute", said)


@lru_cache(maxsize=1000)
def refusals_of(sql: str, points: int, named: tuple[tuple[str, ...], ...]) -> set[str]:
    """A set for each question over the same files, which no other files are ever named like."""
    return set()


def typed(relation: Relation, schema: StructType, times: Sequence[str] = ()) -> str:
    """A relation with its shown columns by number, in the types that Spark gives the question."""
    shown = [
        f"CAST(`{column}` AS {type_text(one.dataType)}) AS c{n}"
        for n, (column, one) in enumerate(zip(relation.columns, schema, strict=False))
    ]
    more = relation.columns[len(shown) :]
    hidden = [f"`{column}` AS c{len(shown) + n}" for n, column in enumerate(more)]
    return f"SELECT {', '.join([*shown, *hidden, *times])} FROM ({relation.sql})"


def known_of(
    tables: Tables, query: Query, contracts: dict[str, Contract], keeps_state: bool = False
) -> Known:
    """What lowering a query is told of its tables."""
    anew = frozenset(name for name, one in tables.stored.items() if one.anew)
    columns = flat_types(query.node, tables.column_types)
    rows = {name: one.rows for name, one in tables.stored.items() if isinstance(one, Stored)}
    return Known(contracts, tables.types, anew, keeps_state, columns, rows)


def plan_question(tables: Tables, sql: str) -> SqlPlan:
    """Read the question and choose rules; what no rule covers is recomputed, and says so.

    No tuple is looked at but those of small tables: for whatever is done here the first answer
    waits.
    """
    with ThreadPoolExecutor(1) as beside:  # Spark reads it meanwhile, and its complaints come first
        ours = beside.submit(our_reading, tables, sql)
        asked = understood(tables, sql)  # and if it is over the tuples of the first point
    try:
        plan = SqlPlan(tables, sql, *asked, *ours.result())
    except NoRule as missing:
        plan = SqlPlan(tables, sql, *asked, missing=str(missing))
    except QueryError as misread:
        plan = SqlPlan(tables, sql, *asked, missing=f"our reading of it: {misread}")
    if not plan.at_first:
        refuse_ties(tables, sql)
    return plan


def refuse_ties(tables: Tables, sql: str) -> None:
    """Refuse a question whose ties nothing breaks, before its first answer fails over them."""
    total = totally_ordered(sql)
    if total == sql:
        return
    try:
        analysed(tables.session, tables.unread(total))
    except QueryError as error:
        if NO_ORDER not in str(error):
            raise
        raise QueryError(
            "ties are broken by what is shown (all columns of a cut, the value of a max_by), and "
            "some of it is of a type that has no order, such as a map or a variant; write "
            "array_sort(map_entries(m)) instead of a map m, or a text"
        ) from error


def our_reading(tables: Tables, sql: str) -> tuple[Query, Relation]:
    """The question in the algebra, and the relation that answers one point of it.

    Spark, which understands the question itself, may still not understand our reading of it.
    """
    query = read_query(sql, tables.column_types)
    contracts = {name: one.contract_at_once for name, one in tables.stored.items()}
    return query, lower_query(query, known_of(tables, query, contracts))


def lasting(rows: DataFrame, start: int, end: int) -> DataFrame:
    """Rows that hold from one point to another, as all answers have them: columns by number."""
    named = rows.toDF(*(f"c{n}" for n in range(len(rows.columns))))
    return named.select("*", F.lit(start).alias(FROM), F.lit(end).alias(UNTIL))
