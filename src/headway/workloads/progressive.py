"""The workloads of paper 5 (section 5.2): correlated search, click-through rates, unlike groups.

Made data comes of SQL over a range of numbers, each value a hash of the number, so it is the same
everywhere and needs nothing but Spark. Real data comes of files that the user has.
"""

from __future__ import annotations

from dataclasses import dataclass

WORDS, USERS, ADS = 20_000, 20_000, 40
MILLION = 1_000_000


def chance(salt: int) -> str:
    """A number below a million that looks drawn, as SQL over `id`."""
    return f"PMOD(XXHASH64(id, {salt}L), {MILLION})"


def skewed(count: int, salt: int) -> str:
    """A rank below `count`, small ones more often: Zipf's law with exponent one, as SQL."""
    return f"CAST(EXP({chance(salt)} / {MILLION}D * LN({count}D)) AS INT)"


def searches(rows: int) -> str:
    """Searches of users; one user in five likes music, and searches for it and its words."""
    return f"""
SELECT user, CASE WHEN user % 5 = 0 AND {chance(2)} < 500000
  THEN IF({chance(3)} < 150000, 'music', CONCAT('tune', {skewed(300, 4)}))
  WHEN {chance(5)} < 4000 THEN 'music'
  ELSE CONCAT('word', {skewed(WORDS, 6)}) END AS word
FROM (SELECT id, {skewed(USERS, 1)} AS user FROM RANGE({rows}))"""


def top_correlated(word: str) -> str:
    """What else those search for who search for a word, of all who search for it."""
    return f"""
WITH fans AS (SELECT DISTINCT user FROM searches WHERE word = '{word}'),
histogram AS (
  SELECT user, word, count(*) AS n FROM searches WHERE word <> '{word}' GROUP BY user, word
)
SELECT word, sum(IF(fans.user IS NOT NULL, n, 0)) / (sum(n) + 20) AS goodness
FROM histogram LEFT JOIN fans ON histogram.user = fans.user
GROUP BY word ORDER BY goodness DESC, word LIMIT 100"""


def impressions(rows: int) -> str:
    """Ads shown to users."""
    return f"""
SELECT id, {skewed(USERS, 11)} AS user, CAST(PMOD(XXHASH64(id, 12L), {ADS}) AS INT) AS ad
FROM RANGE({rows})"""


def clicks(rows: int) -> str:
    """The impressions that were clicked on: each ad has its own rate, and a few users are bots."""
    rate = "20000 + 4000 * ad"
    shown = impressions(rows)
    return f"""
SELECT user, ad FROM ({shown}) AS shown WHERE {chance(13)} < {rate}
UNION ALL SELECT CAST(-1 - PMOD(id, 3) AS INT) AS user,
  CAST(PMOD(XXHASH64(id, 14L), 3) AS INT) AS ad
FROM RANGE({rows // 50})"""


# Clicks of one user on one ad beyond this many are no person's.
REAL_CLICKS = """
SELECT ad, sum(n) AS n FROM (
  SELECT user, ad, count(*) AS n FROM clicks GROUP BY user, ad HAVING count(*) <= 100
) AS per_user GROUP BY ad"""
SHOWN = "SELECT ad, count(*) AS n FROM impressions GROUP BY ad"
CLICK_THROUGH = f"""
SELECT shown.ad, clicked.n / shown.n AS rate
FROM ({SHOWN}) AS shown JOIN ({REAL_CLICKS}) AS clicked ON shown.ad = clicked.ad
ORDER BY shown.ad"""


# The same rates as a pipeline of three jobs with keys of their own (paper 5, section 2.3): what
# each user was shown and clicked on, without those that are no persons; of these, each ad.
PER_USER = """
SELECT user, ad, sum(shown) AS shown, sum(clicked) AS clicked FROM (
  SELECT user, ad, 1 AS shown, 0 AS clicked FROM impressions
  UNION ALL SELECT user, ad, 0 AS shown, 1 AS clicked FROM clicks
) AS seen GROUP BY user, ad HAVING sum(clicked) <= 100"""
PER_AD = "SELECT ad, sum(shown) AS shown, sum(clicked) AS clicked FROM per_user GROUP BY ad"
RATES = "SELECT ad, clicked / shown AS rate FROM per_ad WHERE shown > 0 ORDER BY ad"


def visits(rows: int) -> str:
    """Visits from countries of very unlike sizes, each with its own typical length."""
    return f"""
SELECT id, country, 10 + country % 17 + {chance(22)} / {MILLION}D * 5 AS worth
FROM (SELECT id, {skewed(2_000, 21)} AS country FROM RANGE({rows}))"""


MEAN_VISIT = "SELECT country, avg(worth) AS mean FROM visits GROUP BY country"


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of the workloads, each as the query that gives its rows."""

    searches: str
    word: str  # what is looked for together with others
    clicks: str
    impressions: str
    visits: str


def made_tables(rows: int) -> Tables:
    """Tables made of nothing."""
    return Tables(searches(rows), "music", clicks(rows), impressions(rows), visits(rows // 4))


# Words of tweets in place of searches; who was shown something is told by four features alone.
WHO = "CONCAT_WS('-', user_feature_0, user_feature_1, user_feature_2, user_feature_3)"
REAL_TABLES = Tables(
    searches="""
SELECT user, word FROM (
  SELECT user, EXPLODE(SPLIT(LOWER(text), '[^a-z0-9#@]+')) AS word FROM tweets
) WHERE LENGTH(word) > 3""",
    word="climate",
    clicks=f"SELECT {WHO} AS user, item_id AS ad FROM impressions WHERE click = 1",
    impressions=f"SELECT {WHO} AS user, item_id AS ad FROM impressions",
    visits="SELECT Country AS country, Quantity * UnitPrice AS worth FROM retail",
)
REAL_FILES = ("tweets", "impressions", "retail")
