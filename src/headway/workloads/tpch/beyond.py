"""Questions beyond TPC-H's own: every kind of SQL that an early answer must get right.

They are asked of TPC-H's tables. `loud_name` and `squared` are functions that whoever asks has to
register first, a plain one and one over pandas.
"""

from __future__ import annotations

BEYOND: dict[str, str] = {
    "count_distinct": """
        SELECT o_orderpriority, count(DISTINCT o_custkey) AS customers
        FROM orders GROUP BY o_orderpriority""",
    "count_distinct_beside_others": """
        SELECT l_shipmode, count(*) AS n, count(DISTINCT l_suppkey) AS suppliers,
          sum(DISTINCT l_linenumber) AS numbers
        FROM lineitem GROUP BY l_shipmode""",
    "count_distinct_of_all": "SELECT count(DISTINCT l_partkey) AS parts FROM lineitem",
    "rollup_of_none": """
        SELECT o_orderstatus, count(*) AS orders FROM orders
        WHERE o_totalprice < 0 GROUP BY ROLLUP (o_orderstatus)""",
    "rollup": """
        SELECT o_orderstatus, o_orderpriority, grouping(o_orderpriority) AS is_total,
          count(*) AS n, sum(o_totalprice) AS total
        FROM orders GROUP BY ROLLUP (o_orderstatus, o_orderpriority)""",
    "cube": """
        SELECT l_returnflag, l_linestatus, max(l_extendedprice) AS most
        FROM lineitem GROUP BY CUBE (l_returnflag, l_linestatus)""",
    "grouping_sets": """
        SELECT l_shipmode, year(l_shipdate) AS y, sum(l_quantity) AS q
        FROM lineitem GROUP BY GROUPING SETS ((l_shipmode), (year(l_shipdate)), ())""",
    "rank": """
        SELECT o_custkey, o_orderkey, o_totalprice,
          rank() OVER (PARTITION BY o_custkey ORDER BY o_totalprice DESC) AS place
        FROM orders WHERE o_custkey < 400""",
    "row_number_of_ties": """
        SELECT l_orderkey, l_linenumber,
          row_number() OVER (PARTITION BY l_shipmode ORDER BY l_quantity) AS place
        FROM lineitem WHERE l_orderkey < 600""",
    "window_by_progress_key": """
        SELECT l_orderkey, l_linenumber, sum(l_quantity) OVER (PARTITION BY l_orderkey) AS of_order,
          lag(l_quantity) OVER (PARTITION BY l_orderkey ORDER BY l_linenumber) AS before
        FROM lineitem WHERE l_orderkey < 2000""",
    "running_total": """
        SELECT o_orderdate, sum(count(*)) OVER (ORDER BY o_orderdate) AS so_far
        FROM orders WHERE o_orderdate < DATE '1992-03-01' GROUP BY o_orderdate""",
    "left_join_start": """
        SELECT n_name, count(s_suppkey) AS suppliers
        FROM nation LEFT JOIN supplier ON n_nationkey = s_nationkey AND s_acctbal > 5000
        GROUP BY n_name""",
    "left_join_moving": """
        SELECT c_mktsegment, count(o_orderkey) AS orders, count(*) AS pairs
        FROM customer LEFT JOIN orders ON c_custkey = o_custkey AND o_totalprice > 200000
        GROUP BY c_mktsegment""",
    "left_join_aligned": """
        SELECT o_orderkey, count(l_linenumber) AS returned
        FROM orders LEFT JOIN lineitem ON o_orderkey = l_orderkey AND l_returnflag = 'R'
        WHERE o_orderkey < 3000 GROUP BY o_orderkey""",
    "full_join": """
        SELECT coalesce(a.k, b.k) AS k, a.n AS returned, b.n AS shipped
        FROM (SELECT l_suppkey AS k, count(*) AS n FROM lineitem
              WHERE l_returnflag = 'R' AND l_quantity > 49 GROUP BY l_suppkey) AS a
        FULL JOIN (SELECT l_suppkey AS k, count(*) AS n FROM lineitem
              WHERE l_shipmode = 'AIR' AND l_quantity > 49 GROUP BY l_suppkey) AS b
        ON a.k = b.k""",
    "right_join": """
        SELECT c_custkey, o_orderkey
        FROM orders RIGHT JOIN customer ON o_custkey = c_custkey AND o_orderstatus = 'P'
        WHERE c_custkey < 300""",
    "semi_join": """
        SELECT count(*) AS n FROM customer LEFT SEMI JOIN orders
        ON c_custkey = o_custkey AND o_orderpriority = '1-URGENT'""",
    "anti_join": """
        SELECT c_custkey, c_name FROM customer LEFT ANTI JOIN orders ON c_custkey = o_custkey
        WHERE c_custkey < 400""",
    "exists_unequal": """
        SELECT count(*) AS n FROM orders o
        WHERE o_custkey < 300 AND EXISTS (
          SELECT 1 FROM orders p
          WHERE p.o_custkey = o.o_custkey AND p.o_totalprice > o.o_totalprice)""",
    "not_in_moving": """
        SELECT count(*) AS n FROM supplier
        WHERE s_suppkey NOT IN (SELECT l_suppkey FROM lineitem WHERE l_quantity = 50)""",
    "not_in_with_nulls": """
        SELECT count(*) AS n FROM nation
        WHERE n_nationkey NOT IN (
          SELECT CASE WHEN o_shippriority = 0 AND o_orderkey < 40 THEN NULL ELSE o_custkey END
          FROM orders WHERE o_orderkey < 50)""",
    "union_distinct": """
        SELECT o_custkey AS k FROM orders WHERE o_totalprice > 300000
        UNION SELECT c_custkey FROM customer WHERE c_acctbal > 9900""",
    "union_all_grouped": """
        SELECT k, count(*) AS n FROM (
          SELECT o_orderkey % 7 AS k FROM orders UNION ALL SELECT l_orderkey % 7 FROM lineitem) AS u
        GROUP BY k""",
    "intersect": """
        SELECT l_suppkey FROM lineitem WHERE l_quantity > 48
        INTERSECT SELECT l_suppkey FROM lineitem WHERE l_discount > 0.09""",
    "except_all": """
        SELECT l_suppkey % 20 AS k FROM lineitem WHERE l_quantity > 45
        EXCEPT ALL SELECT l_suppkey % 20 FROM lineitem WHERE l_quantity > 48""",
    "nested_aggregate": """
        SELECT n, count(*) AS orders, avg(total) AS mean FROM (
          SELECT l_orderkey, count(*) AS n, sum(l_extendedprice) AS total
          FROM lineitem GROUP BY l_orderkey) AS per_order
        GROUP BY n""",
    "deep_aggregate": """
        SELECT max(n) AS most, min(n) AS fewest, avg(n) AS mean FROM (
          SELECT o_custkey, count(*) AS n FROM orders GROUP BY o_custkey) AS per_customer""",
    "scalar_beside_rows": """
        SELECT c_custkey, (SELECT count(*) FROM orders WHERE o_custkey = c_custkey) AS orders,
          (SELECT max(o_totalprice) FROM orders WHERE o_custkey = c_custkey) AS most
        FROM customer WHERE c_custkey < 300""",
    "having_scalar": """
        SELECT o_orderpriority, count(*) AS n FROM orders GROUP BY o_orderpriority
        HAVING count(*) > (SELECT count(*) / 5 FROM orders)""",
    "top_with_ties_and_offset": """
        SELECT l_quantity, l_orderkey FROM lineitem ORDER BY l_quantity DESC LIMIT 15 OFFSET 5""",
    "limit_without_order": "SELECT o_orderkey FROM orders LIMIT 7",
    "distinct_rows": "SELECT DISTINCT l_shipmode, l_returnflag FROM lineitem ORDER BY 1 DESC, 2",
    "float_sums": """
        SELECT l_returnflag, sum(CAST(l_extendedprice AS DOUBLE) / 3) AS third,
          avg(CAST(l_discount AS FLOAT)) AS mean
        FROM lineitem GROUP BY l_returnflag""",
    "float_sums_by_key": """
        SELECT l_orderkey, sum(CAST(l_extendedprice AS DOUBLE) / 3) AS third
        FROM lineitem WHERE l_orderkey < 500 GROUP BY l_orderkey""",
    "float_sums_beside": """
        SELECT l_returnflag, sum(CAST(l_extendedprice AS DOUBLE) / 3) AS third,
          avg(CAST(l_discount AS FLOAT)) FILTER (WHERE l_tax > 0) AS mean,
          count(DISTINCT l_suppkey) AS suppliers, percentile(l_quantity, 0.5) AS middle
        FROM lineitem GROUP BY l_returnflag""",
    "float_sums_of_all": """
        SELECT sum(CAST(l_extendedprice AS DOUBLE) / 3) AS third,
          avg(CAST(l_discount AS FLOAT)) FILTER (WHERE l_tax > 0) AS mean,
          percentile(l_quantity, 0.5) AS middle
        FROM lineitem""",
    "percentile": """
        SELECT o_orderpriority, percentile(o_totalprice, 0.5) AS middle, min_by(o_orderkey,
          struct(o_totalprice, o_orderkey)) AS cheapest
        FROM orders GROUP BY o_orderpriority""",
    "sorted_set": """
        SELECT o_orderstatus, array_sort(collect_set(o_orderpriority)) AS priorities
        FROM orders GROUP BY o_orderstatus""",
    "filtered_aggregates": """
        SELECT count(*) FILTER (WHERE l_returnflag = 'R') AS returned,
          sum(l_quantity) FILTER (WHERE l_shipmode = 'AIR' AND l_linestatus = 'O') AS by_air,
          count_if(l_quantity > 40) AS large, min(l_shipdate) AS earliest
        FROM lineitem""",
    "of_nothing": """
        SELECT count(*) AS n, sum(o_totalprice) AS total, max(o_orderdate) AS latest,
          percentile(o_totalprice, 0.5) AS middle
        FROM orders WHERE o_orderkey < 0""",
    "self_join": """
        SELECT a.o_orderpriority, count(*) AS pairs FROM orders a JOIN orders b
        ON a.o_custkey = b.o_custkey AND a.o_orderkey < b.o_orderkey
        GROUP BY a.o_orderpriority""",
    "cross_join": """
        SELECT r_name, n FROM region CROSS JOIN (SELECT count(*) AS n FROM orders) AS o""",
    "view_used_twice": """
        WITH spent AS (SELECT o_custkey AS k, sum(o_totalprice) AS s FROM orders GROUP BY o_custkey)
        SELECT count(*) AS n FROM spent WHERE s > (SELECT avg(s) * 1.5 FROM spent)""",
    "plain_function": """
        SELECT loud_name(o_orderpriority) AS loud, count(*) AS n FROM orders
        GROUP BY loud_name(o_orderpriority)""",
    "pandas_function": """
        SELECT l_returnflag, sum(squared(l_linenumber)) AS squares FROM lineitem
        GROUP BY l_returnflag""",
    "subquery_in_or": """
        SELECT count(*) AS n FROM customer
        WHERE c_acctbal > 9000
          OR c_custkey IN (SELECT o_custkey FROM orders WHERE o_totalprice > 3e5)""",
    "lateral_view": """
        SELECT word, count(*) AS n FROM orders LATERAL VIEW explode(split(o_comment, ' ')) w AS word
        GROUP BY word HAVING count(*) > 50""",
    "pivot": """
        SELECT * FROM (SELECT o_orderstatus, o_orderpriority, o_totalprice FROM orders)
        PIVOT (sum(o_totalprice) FOR o_orderstatus IN ('F' AS f, 'O' AS o))""",
    "case_of_dates": """
        SELECT date_trunc('MONTH', o_orderdate) AS month,
          sum(CASE WHEN o_orderstatus = 'F' THEN 1 ELSE 0 END) / count(*) AS finished
        FROM orders WHERE year(o_orderdate) = 1995 GROUP BY date_trunc('MONTH', o_orderdate)
        ORDER BY month""",
    "groups_of_unlike_types": """
        SELECT c_custkey, lpad(k, 9, '0') AS k, n, c_acctbal FROM customer JOIN (
          SELECT lpad(CAST(o_custkey AS STRING), 1 + CAST(o_orderkey % 9 AS INT), '0') AS k,
            count(*) AS n
          FROM orders WHERE o_custkey < 300 GROUP BY 1) AS per_text
        ON c_custkey = k ORDER BY n DESC, k""",
    "semi_join_of_unlike_types": """
        SELECT o_orderpriority, count(*) AS n FROM orders
        WHERE EXISTS (SELECT 1 FROM (SELECT concat('0', l_orderkey) AS k, l_quantity
          FROM lineitem) AS texts WHERE k = o_orderkey AND l_quantity > 49)
        GROUP BY o_orderpriority ORDER BY n""",
    "extremes_with_ties": """
        SELECT o_orderstatus, max_by(o_orderkey, o_orderpriority) AS one,
          min_by(o_custkey, year(o_orderdate)) AS another
        FROM orders GROUP BY o_orderstatus ORDER BY o_orderstatus DESC""",
    "cut_of_a_union": """
        SELECT o_custkey AS k, o_orderstatus AS s FROM orders
        UNION ALL SELECT c_custkey, c_mktsegment FROM customer ORDER BY s LIMIT 25""",
    "ordered_without_a_rule": """
        SELECT o_orderpriority, skewness(o_totalprice) AS lean, n
        FROM (SELECT *, count(*) OVER (PARTITION BY o_custkey % 5) AS n FROM orders) AS o
        GROUP BY o_orderpriority, n ORDER BY n DESC, o_orderpriority""",
}
