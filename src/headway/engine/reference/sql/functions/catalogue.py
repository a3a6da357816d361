"""Every function that the reference engine knows, by the name Spark knows it by."""

from __future__ import annotations

from headway.engine.reference.sql.functions.arrays import ARRAYS
from headway.engine.reference.sql.functions.choices import CHOICES
from headway.engine.reference.sql.functions.dates import DATES
from headway.engine.reference.sql.functions.hashes import HASHES
from headway.engine.reference.sql.functions.numbers import NUMBERS
from headway.engine.reference.sql.functions.parsed import PARSED
from headway.engine.reference.sql.functions.texts import TEXTS
from headway.engine.reference.sql.typed import Rule

FUNCTIONS: dict[str, Rule] = {
    **CHOICES,
    **TEXTS,
    **NUMBERS,
    **ARRAYS,
    **DATES,
    **HASHES,
    **PARSED,
}
