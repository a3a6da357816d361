"""Cut the clicks of each user into sessions; one ends when its user was away for half an hour.

The clicks carry their own times, 17 of them a second. Replayed at 5,000 a second, five minutes go
by in each second, so sessions end while you watch.

Run it with `headway run examples/sessions.py --for 20s`, or with python.
"""

import headway as hw
from headway.workloads.makers.clicks import Clicks
from headway.workloads.makers.disorder import Disorder
from headway.workloads.sessions import Sessions

clicks = Clicks(keys=10_000, disorder=Disorder(per_s=17, jitter="1min"))

flow = hw.replay(clicks, rate=5_000, time="time").pair(Sessions(gap="30min")).to("console")

if __name__ == "__main__":
    with hw.run(flow, goal="p99 <= 2s") as run:
        run.wait(20)
