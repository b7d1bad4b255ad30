"""Canonical rows are written together with their entries in the log: by `remember`, and through `Changes` there."""

from __future__ import annotations

import re
from pathlib import Path

import recollect

SOURCE = Path(recollect.__file__).parent
WRITES = re.compile(
    r"(?:memories\.(?:add|update|delete)|links\.(?:put|remove|forget)|tombstones\.(?:put|lift)"
    r"|entities\.(?:put|drop_unmentioned)|log\.append)\("
)
# Who may, and why that is safe.
ALLOWED = {
    "remember/changes.py": "each method notes the entry beside the row",
    "remember/commit.py": "inserts what it noted as added",
    "remember/merge.py": "notes each row it takes in, or adds those that a log which comes along tells of",
    "portable/take_in.py": "a note that there was an import, about no row",
    "remember/passages.py": "inserts what it noted as put",
    "remember/reinforce.py": "being read is no change; what is one goes through Changes",
    "remember/replay.py": "fills an empty store from a log",
    "sync/replica.py": "inserts what it noted as come from another copy",
    "tend/runner.py": "a report, about no row",
    "testing/sync.py": "a copy in memory, with a log of its own",
    "testing/store.py": "tries an engine, with rows that belong to nobody",
}


def test_no_canonical_row_is_written_past_the_log() -> None:
    found = [
        f"{module}:{number}"
        for path in sorted(SOURCE.rglob("*.py"))
        if (module := path.relative_to(SOURCE).as_posix()) not in ALLOWED and not module.startswith("store/")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if WRITES.search(line)
    ]
    assert found == []
