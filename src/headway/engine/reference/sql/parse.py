"""SQL text to a tree in which every function keeps the name that its author gave it.

sqlglot turns many functions into nodes of its own that several dialects share, and so loses which
of Spark's functions was meant. Here only syntax is parsed; functions stay names with arguments.
"""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.parsers.spark import SparkParser

KEPT_SYNTAX = ("CAST", "TRY_CAST", "EXTRACT", "TRIM")


class Named(Spark):
    """Spark's syntax without its function catalogue."""

    class Tokenizer(Spark.Tokenizer):
        """Reads a doubled quote inside a text as one, as Spark 4 does."""

        STRING_ESCAPES = ["\\", "'", '"']  # noqa: RUF012

    class Parser(SparkParser):
        """Parses each function call as a name with arguments."""

        FUNCTIONS = {"ARRAY": lambda args: exp.Array(expressions=args)}  # noqa: RUF012
        FUNCTION_PARSERS = {  # noqa: RUF012
            name: parse
            for name, parse in SparkParser.FUNCTION_PARSERS.items()
            if name in KEPT_SYNTAX
        }


def parse_named(text: str) -> exp.Expression:
    """The tree of one expression, without its alias; `text` has been checked for syntax before."""
    tree: exp.Expression = sqlglot.parse_one(f"SELECT {text}", dialect=Named).expressions[0]
    return tree.this if isinstance(tree, exp.Alias | exp.Aliases) else tree
