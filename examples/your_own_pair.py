"""Write a pair of your own: tell each user whose requests failed three times in a row.

Run it with `headway run examples/your_own_pair.py --for 20s`, or with python.
"""

import headway as hw
from headway.workloads.makers.clicks import Clicks


class FailingUsers(hw.Pair):
    """Counts a user's failed requests since the last good one."""

    emits = "failures bigint, url string"

    def map(self, time, key, value):
        yield time, value["user"], (value["status"] >= 400, value["url"])

    def init(self, key):
        return 0

    def update(self, time, key, value, state):
        failed, url = value
        failures = state + 1 if failed else 0
        return failures, [(time, key, (failures, url))] if failures == 3 else []


flow = hw.replay(Clicks(keys=100), rate=5_000).pair(FailingUsers()).to("console")

if __name__ == "__main__":
    with hw.run(flow, goal="p99 <= 2s") as run:
        run.wait(20)
