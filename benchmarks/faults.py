"""Which faults and attacks does Recollect stand, and how often was that tried? One line for each of thirty rows.

    RECOLLECT_SOAK=1 python benchmarks/faults.py [ROW ...]     run the rows at nightly size (0.2: a fifth of it)
    python benchmarks/faults.py --table                        write benchmarks/results/faults.md from what was run

Each row is a few tests of `tests/faults` and `tests/attacks`. A run prints one line a row and keeps the figures in
`build/faults.json`; a row that is run again replaces its figures. A row passes when all its tests do. Without
RECOLLECT_SOAK the tests have the size they have in `make test`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FIGURES = ROOT / "build" / "faults.json"
TABLE = ROOT / "benchmarks" / "results" / "faults.md"
_FAULTS, _ATTACKS = "tests/faults", "tests/attacks"


@dataclass(frozen=True)
class Row:
    """One fault or attack: what happens, what must hold, which tests try it."""

    number: int
    what: str
    goal: str
    tests: tuple[str, ...]
    left: str = ""  # what no test tries yet

    @property
    def present(self) -> tuple[str, ...]:
        return tuple(test for test in self.tests if (ROOT / test.partition("::")[0]).exists())


_HOSTILE, _BIG = f"{_ATTACKS}/test_hostile_documents.py", f"{_ATTACKS}/test_big_files.py"
_KILLED = f"{_FAULTS}/test_kill_commands.py"
_PROCESSES, _READER = f"{_FAULTS}/test_processes.py", f"{_FAULTS}/test_stuck_reader.py"
ROWS = (
    Row(
        1, "SIGKILL during any write", "0 acknowledged lost, 0 half-applied",
        (
            f"{_FAULTS}/test_kill.py",
            f"{_KILLED}::test_a_killed_command_loses_nothing_leaves_nothing_half_done_and_can_be_finished",
        ),
    ),
    Row(
        2, "SIGKILL in jobs: index, consolidate, re-embed, upgrade, backup, restore, repair",
        "0 lost, 0 duplicated, the job resumes",
        (f"{_KILLED}::test_a_job_killed_at_its_fail_points_resumes_and_what_was_there_serves_meanwhile",),
    ),
    Row(3, "Power cut", "0 durable acts lost, 0 corrupt", (f"{_FAULTS}/test_power_cut.py",)),
    Row(4, "Torn or flipped log", "always a prefix of the commits", (f"{_FAULTS}/test_torn_log.py",)),
    Row(
        5, "Damage to the main file", "noticed or without effect; rows on whole pages salvaged",
        (f"{_FAULTS}/test_damage.py",),
    ),
    Row(
        6, "Disk full, failing, read-only; the clock jumps",
        "0 acknowledged lost, reads and forget work, resumes without a restart",
        (f"{_FAULTS}/test_disk_full.py", f"{_FAULTS}/test_clock.py"),
    ),
    Row(
        7, "Sixteen processes read, then write", "0 lost, 0 lock errors, p99 ≤ 250 ms, longest ≤ 2 s",
        (
            f"{_PROCESSES}::test_sixteen_processes_that_read_then_write_meet_no_lock_and_lose_nothing",
            f"{_PROCESSES}::test_writers_beside_upkeep_indexing_checks_and_backups_lose_nothing",
        ),
    ),
    Row(
        8, "Lost update: eight processes edit one memory, beside a slow consolidation of it", "0 lost, conflicts shown",
        (
            f"{_PROCESSES}::test_eight_processes_that_edit_one_memory_lose_no_update",
            f"{_PROCESSES}::test_edits_beside_a_slow_consolidation_of_the_same_memory_are_not_lost",
        ),
    ),
    Row(
        9, "Readers that come and go beside a writer", "0 lock errors, nothing written by opening",
        (
            f"{_PROCESSES}::test_readers_that_open_and_close_beside_a_writer_meet_no_error_and_see_every_acknowledged_write",
            f"{_PROCESSES}::test_opening_and_reading_write_nothing_to_the_file_or_its_log",
            f"{_PROCESSES}::test_opening_and_reading_wait_for_no_writer",
            f"{_PROCESSES}::test_processes_that_find_no_store_at_the_same_moment_make_one_together",
        ),
    ),
    Row(
        10, "Growth of log and file: observations, a stuck reader",
        "log ≤ 64 MB within 60 s of the end of the reader, even growth",
        (_READER,),
    ),
    Row(
        11, "Programs that outlive their parent; simultaneous starts", "0 survivors, one learner a store",
        (f"{_ATTACKS}/test_ends.py",),
    ),
    Row(12, "Long use", "idle CPU ≤ 1 %, ≤ 1 MB an hour, no more handles", (f"{_FAULTS}/test_soak.py",)),
    Row(
        13, "Upgrade of a store", "all rows kept, a verified copy first, a newer store refused",
        (f"{_FAULTS}/test_migration.py", "tests/store/test_upgrade.py"),
    ),
    Row(14, "Any sequence of acts against a plain model", "0 divergences", (f"{_FAULTS}/test_model.py",)),
    Row(15, "Ranking", "its properties hold whatever is stored", (f"{_ATTACKS}/test_ranking_properties.py",)),
    Row(
        16, "MCP calls made from the tools' schemas and beyond; hostile model servers",
        "an answer each, 0 hangs, 0 schema breaks",
        (f"{_ATTACKS}/test_mcp_fuzz.py", f"{_ATTACKS}/test_hostile_endpoint.py"),
        left="the HTTP API is not built yet",
    ),
    Row(17, "Hostile documents and sources", "≤ 1 s, ≤ 256 MB a file, 0 uncaught", (_HOSTILE, _BIG)),
    Row(18, "Every regular expression on hostile text", "≤ 50 ms of 20 kB", ("tests/test_regexes.py",)),
    Row(
        19, "SQL, FTS5 and JSON syntax in values and keys", "0 errors, 0 foreign rows",
        (f"{_ATTACKS}/test_injection_strings.py",),
    ),
    Row(
        20, "Traversal, links, planted programs, foreign stores and settings",
        "0 opened outside, 0 run, 0 sent, 0 told",
        tuple(
            f"{_ATTACKS}/test_{name}.py"
            for name in ("traversal", "links", "git", "planted_modules", "foreign_store", "shipped_logs", "settings",
                         "hostile_stores")
        ),
    ),
    Row(
        21, "Text that wants to be a person's word, through every door of an agent", "0 promoted, 0 told unasked",
        (f"{_ATTACKS}/test_agents.py", f"{_ATTACKS}/test_hook_tool.py"),
    ),
    Row(
        22, "The same with a model in the loop that obeys every text it reads",
        "0 made a person's word, 0 told unasked",
        (f"{_ATTACKS}/test_obedient_model.py",),
        left="no open model was run: how many attacks one follows, and what defence costs it, is not measured",
    ),
    Row(23, "Retrieval capture", "≤ 10 % of the places, ≤ 1 a source", ("tests/recall/test_precedence.py",)),
    Row(24, "Echo: what was told comes back as news", "0 taken in again", ("tests/privacy/test_fence.py",)),
    Row(
        25, "Fence, Unicode, ANSI", "0 breakouts, 0 control bytes",
        (f"{_ATTACKS}/test_fence.py", "tests/privacy/test_fence.py"),
    ),
    Row(
        26, "Local HTTP", "0 pass without token, from another host or page; refused before the body is read",
        (f"{_ATTACKS}/test_http_transport.py",), left="HTTP API, team and sync: filled with them",
    ),
    Row(27, "Users and projects on every way of reading", "0 foreign rows", (f"{_ATTACKS}/test_tenants.py",)),
    Row(28, "Secrets", "found before any write, in no file", (f"{_ATTACKS}/test_secrets.py",)),
    Row(
        29, "Erasure; files that change under an open store", "0 hits in any file or answer, also after a restore",
        (f"{_ATTACKS}/test_tampering.py", f"{_ATTACKS}/test_changed_files.py"),
    ),
    Row(30, "Tampering, restores under load", "all noticed, the restored store is what was saved",
        (f"{_ATTACKS}/test_tampering.py",), left="sync: filled with it"),
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", type=int, metavar="ROW", help="only these (default: all)")
    parser.add_argument("--table", action="store_true", help="write the table from the figures that were kept")
    parser.add_argument("--figures", type=Path, default=FIGURES, help="where figures are kept")
    parser.add_argument("--workers", type=int, default=2, help="tests at a time (default: 2)")
    args = parser.parse_args()
    kept: dict[str, Any] = json.loads(args.figures.read_text(encoding="utf-8")) if args.figures.exists() else {}
    if args.table:
        TABLE.write_text(table(kept), encoding="utf-8")
        return
    bad = 0
    for row in ROWS:
        if (args.rows and row.number not in args.rows) or not row.present:
            continue
        kept[str(row.number)] = found = run(row, workers=args.workers)
        args.figures.parent.mkdir(exist_ok=True)
        args.figures.write_text(json.dumps(kept, indent=1), encoding="utf-8")
        bad += found["outcome"] != "held"
        lines = "; ".join(found["figures"])
        print(f"{row.number:>2} {row.what}: {found['outcome']} in {found['seconds']:.0f} s. {lines}", flush=True)
    sys.exit(bool(bad))


def run(row: Row, *, workers: int) -> dict[str, Any]:
    """Run the tests of a row; what came of them, and what they measured."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figures.json"
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-n", str(workers), *row.present],
            cwd=ROOT, env={**os.environ, "RECOLLECT_FIGURES": str(file)}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        ended = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    failed = [test["test"] for test in ended if test["outcome"] in ("failed", "error")]
    skipped = sum(test["outcome"] == "skipped" for test in ended)
    if done.returncode != 0:
        print(done.stdout[-6_000:] + done.stderr[-2_000:], file=sys.stderr, flush=True)
    return {
        "outcome": "held" if done.returncode == 0 else "NOT HELD",
        "tests": len(ended) - skipped,
        "skipped": skipped,
        "failed": failed,
        "figures": merged(line for test in ended for line in test["figures"]),
        "seconds": time.monotonic() - began,
        "scale": os.environ.get("RECOLLECT_SOAK", ""),
        "commit": _commit(),
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
    }


def _commit() -> str:
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


# --- figures ----------------------------------------------------------------------------------------------------------

_PAIR = re.compile(r"(?P<name>[^:]+): (?P<number>\d+(?:\.\d+)?)(?P<unit> [^\d].*)?")


def merged(lines: Iterable[str]) -> list[str]:
    """The figures of parallel parts as one: counts are added up, times and sizes are the worst, seeds are left out."""
    groups: dict[tuple[str, ...], list[list[tuple[str, str, str]]]] = {}
    whole: list[str] = []
    for line in lines:
        pairs = [_PAIR.fullmatch(part) for part in line.split(", ")]
        told = [(pair["name"], pair["number"], pair["unit"] or "") for pair in pairs if pair and pair["name"] != "seed"]
        if all(pairs):
            groups.setdefault(tuple(name for name, _, _ in told), []).append(told)
        else:
            whole.append(re.sub(r", seed: \d+$", "", line))
    return [_sum(some) for some in groups.values()] + sorted(set(whole))


def _sum(some: Sequence[Sequence[tuple[str, str, str]]]) -> str:
    told = []
    for column in zip(*some, strict=True):
        name, _, unit = column[0]
        numbers = [float(number) for _, number, _ in column]
        if unit.strip() in ("ms", "s", "MB", "kB", "%"):
            told.append(f"{name}: {max(numbers):g}{unit}")
        else:
            told.append(f"{name}: {sum(numbers):,.0f}{unit}")
    return ", ".join(told)


# --- the table --------------------------------------------------------------------------------------------------------

_HEAD = """# Faults and attacks

Each row is tried by tests that run in `make test` at a small size and by `make soak` at a nightly one, size 1
(`RECOLLECT_SOAK=0.2 make soak` is a fifth of it). No size means the size of `make test`. Zero failures in n trials
bound the true rate at about 3/n (95 %). Figures are from the run named in each row, on two cores that others used too.

| # | fault or attack | must hold | outcome | n, as counted by the run | command | size | date (UTC), commit |
|---|---|---|---|---|---|---|---|
"""


def table(kept: dict[str, Any]) -> str:
    """The thirty rows as Markdown: what was run, when, and what came of it."""
    return _HEAD + "".join(_line(row, kept.get(str(row.number))) for row in ROWS)


def _line(row: Row, found: dict[str, Any] | None) -> str:
    if found is None:
        return f"| {row.number} | {row.what} | {row.goal} | not run | {row.left} | | | |\n"
    told = "; ".join(found["figures"]) or f"{found['tests']} tests"
    outcome = found["outcome"] + (f", {found['skipped']} skipped" if found["skipped"] else "")
    left = f" Left: {row.left}." if row.left else ""
    command = found.get("command") or f"`python benchmarks/faults.py {row.number}`"
    return (
        f"| {row.number} | {row.what} | {row.goal} | {outcome} | {told}.{left} | "
        f"{command} | {found['scale']} | {found['date']}, {found['commit']} |\n"
    )


if __name__ == "__main__":
    main()
