"""Random worlds of people, teams and memories: does any way of asking tell a member of what is not theirs?

python benchmarks/members_sight.py --worlds 10000
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import recollect
from team_worlds import PROJECT, leaks, make_world, people  # type: ignore[import-not-found]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=10_000)
    parser.add_argument("--share", type=float, default=0.5, help="of the ways of asking, tried in each world")
    parser.add_argument("--each", type=int, default=10, help="populations that ask about the same memories")
    args = parser.parse_args()
    found, began, done = [], time.monotonic(), 0
    while done < args.worlds:
        random = Random(f"worlds {done}")
        with recollect.open(":memory:", project=PROJECT, actor="keeper") as memory:
            world = make_world(memory, random)
            for _ in range(min(args.each, args.worlds - done)):
                world.members = people(random)
                found += leaks(world, random.choice(world.members), random, share=args.share)
                done += 1
        if done % 500 == 0:
            print(f"{done} worlds, {len(found)} leaks, {time.monotonic() - began:.0f} s", flush=True)
    print(f"{done} worlds, {len(found)} foreign ids or words: {found[:5]}")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
