"""Is what the observer promotes useful? The judgement set, its criteria, and what it adds up to.

    python benchmarks/useful.py

`useful.jsonl` holds every memory that the rules promote on the projects of `traces.py` (`rules` "now"), what people say
included, what they promoted until the judgement ("cut"), and a random sample of what the first rules had promoted
("before"): project, session that completed it, signal, text, whether it would be told unasked at a level without a
review, and the judgement. "now" and "cut" were judged shuffled together, without project, rule or status in sight;
`first` is the verdict of an earlier judge where it differs.

- useful: a competent agent that is new to the project would act differently and better for having read it, and it holds
  beyond the day.
- trivial: true, and such an agent would do the same without it: how its own tools work, what names say already, what is
  found at the first look, what nobody can act on.
- wrong: false, misread (a wrapper for the command, a remedy that is none, a chance pair), about one task or day told as
  if it lasted, or not to be understood without the conversation it comes from.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SET = Path(__file__).with_name("useful.jsonl")
JUDGEMENTS = ("useful", "trivial", "wrong")


def read_set() -> list[dict[str, Any]]:
    return [json.loads(line) for line in SET.read_text(encoding="utf-8").splitlines() if line]


def table(rows: Sequence[dict[str, Any]], by: str) -> list[str]:
    """Judgements by one field, and what would be told unasked without a review."""
    lines = [
        f"| {by} | memories | {' | '.join(JUDGEMENTS)} | useful | told: cautious (useful) | standard (useful) |",
        "|---|---|---|---|---|---|---|---|",
    ]
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(str(row[by]), []).append(row)
    for name, some in [*sorted(groups.items()), ("**all**", list(rows))]:
        count = Counter(row["judgement"] for row in some)
        told = [[row for row in some if row.get(level)] for level in ("cautious", "standard")]
        shown = " | ".join(f"{len(one)} ({sum(row['judgement'] == 'useful' for row in one)})" for one in told)
        lines.append(
            f"| {name} | {len(some)} | {' | '.join(str(count[each]) for each in JUDGEMENTS)} "
            f"| {count['useful'] / len(some):.0%} | {shown} |"
        )
    return lines


def main() -> None:
    rows = read_set()
    for rules in ("now", "cut", "before"):
        some = [row for row in rows if row["rules"] == rules]
        for by in ("project", "signal"):
            print(f"\n## {rules}, by {by}\n", *table(some, by), sep="\n")


if __name__ == "__main__":
    main()
