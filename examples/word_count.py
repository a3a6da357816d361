"""Count the words of made tweets and tell those seen at least 500 times.

Run it with `headway run examples/word_count.py --for 20s`, or with python.
"""

import headway as hw
from headway.workloads.makers.tweets import Tweets

flow = (
    hw.replay(Tweets(), rate=5_000)
    .map("explode(split(lower(text), ' ')) AS word", key="word")
    .reduce(n="count(*)")
    .filter("n >= 500")
    .to("console")
)

if __name__ == "__main__":
    with hw.run(flow, goal="p99 <= 1s") as run:
        run.wait(20)
