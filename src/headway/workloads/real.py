"""Real public data in a folder that the user names, as streams with the columns they have."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from headway.errors import TopicError
from headway.flow.rates import Rate
from headway.flow.sources import replay
from headway.flow.stream import Stream
from headway.flow.topics import EventTime


@dataclass(frozen=True, slots=True)
class RealData:
    """One file of real records: its name in the folder, its columns, and when a record happened."""

    file: str
    sentence: str
    schema: str
    time: EventTime


REAL: dict[str, RealData] = {
    "tweets": RealData(
        file="tweets.jsonl.gz",
        sentence="Tweets of members of the US Congress, March 2020, in order of time.",
        schema="time timestamp, user string, text string",
        time=EventTime("time"),
    ),
    "requests": RealData(
        file="requests.tsv.gz",
        sentence="HTTP requests to a NASA server on 1 August 1995.",
        schema="host string, logname string, time bigint, method string, url string, "
        "response int, bytes bigint, referer string, useragent string",
        time=EventTime("time", unit="s"),
    ),
    "edits": RealData(
        file="edits.jsonl.gz",
        sentence="Edits of Wikipedia on 12 September 2015.",
        schema="time timestamp, channel string, user string, page string, namespace string, "
        "comment string, cityName string, countryName string, countryIsoCode string, "
        "isAnonymous boolean, isMinor boolean, isNew boolean, isRobot boolean, "
        "isUnpatrolled boolean, delta bigint, added bigint, deleted bigint",
        time=EventTime("time"),
    ),
    "trades": RealData(
        file="trades.csv.gz",
        # The file gives New York time without a zone; it is read as if it were UTC.
        sentence="Trades of shares in October 2013, in order of time, with New York time as UTC.",
        schema="ts timestamp, symbol string, price double, size bigint, exchange string, "
        "condition string, suspicious int",
        time=EventTime("ts"),
    ),
    "impressions": RealData(
        file="impressions.csv.gz",
        sentence="Recommendations shown in an online shop in November 2019, clicked or not.",
        schema="timestamp timestamp, policy string, campaign string, item_id int, position int, "
        "click int, propensity_score double, user_feature_0 string, user_feature_1 string, "
        "user_feature_2 string, user_feature_3 string",
        time=EventTime("timestamp"),
    ),
    "retail": RealData(
        file="retail.csv.gz",
        sentence="Lines of invoices of an online shop, December 2010 to December 2011.",
        schema="InvoiceNo string, StockCode string, Description string, Quantity int, "
        "InvoiceDate timestamp, UnitPrice double, CustomerID double, Country string",
        time=EventTime("InvoiceDate"),
    ),
}


def find_real(name: str, folder: str | Path) -> Path:
    """Where one of the real files is."""
    if name not in REAL:
        raise TopicError(f"there is no real data called {name!r}; there is {', '.join(REAL)}")
    path = Path(folder) / REAL[name].file
    if not path.is_file():
        raise TopicError(
            f"the folder {str(folder)!r} has no file {path.name!r}; name the folder that holds the "
            "real data with --data FOLDER, or run on made records, which need none"
        )
    return path


def replay_real(name: str, folder: str | Path, *, rate: Rate = None) -> Stream:
    """Replay one of the real files from `folder` at a rate, with its own event times."""
    path, data = find_real(name, folder), REAL[name]
    return replay(path, rate=rate, schema=data.schema, time=data.time, name=name)
