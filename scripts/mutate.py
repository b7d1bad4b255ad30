"""Do the tests notice? Draws small defects with a seed, puts each into a private copy, and runs the tests that matter.

    python scripts/mutate.py --n 200 --seed 7                 over all packages
    python scripts/mutate.py --n 20 --seed 7 --package recall
    python scripts/mutate.py --n 20 --seed 7 --since main     of the functions changed since a git ref

A mutant's tests are the mirrored test files and every test that ran the mutated line: coverage.py maps lines to tests
once, in `.mutate/`. A mutant is noticed when a test fails or runs out of time. A person judges those that survive:
`scripts/mutants_judged.json` holds the ones that change nothing a user could see, each with its reason.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue

from mutate_ast import Function, Mutant, draw, functions_of
from mutate_copy import ROOT, SLOW_TO_LOAD, Copy, Map, Outcome

JUDGED = Path(__file__).parent / "mutants_judged.json"
_NOT_MUTATED = ("src/recollect/testing/",)  # fakes and suites: test material itself
_BUDGET = 25.0  # seconds of tests in a stage, by the map: slower ones are left out and counted
_DEFAULTS = ("tests/test_surface.py", "tests/adapters/test_defaults.py")  # no line runs a default: these look
_LEAST_TIMEOUT = 25.0  # seconds of CPU a mutant's tests get at least; three times what they took when traced, if more


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a mutant."""

    name: str
    package: str
    kind: str
    line: int
    verdict: str  # noticed, timeout, survived, equivalent, tuning
    by: str  # the test that noticed, or the reason of a judgement
    tests: int  # how many tests had the chance
    left_out: int
    seconds: float


def sources() -> dict[str, str]:
    """The text of every module that is mutated."""
    return {
        name: path.read_text("utf-8")
        for path in sorted((ROOT / "src" / "recollect").rglob("*.py"))
        if not (name := str(path.relative_to(ROOT))).startswith(_NOT_MUTATED)
    }


def choose(texts: dict[str, str], *, package: str | None, since: str | None) -> list[Function]:
    """The functions to draw from: all, those of a package, or those with a line changed since a git ref."""
    functions = [function for path, text in texts.items() for function in functions_of(path, text)]
    if package:
        functions = [function for function in functions if function.package == package]
    if since:
        changed = changed_lines(since)
        functions = [
            function
            for function in functions
            if not changed.get(function.path, set()).isdisjoint(
                range(function.node.lineno, (function.node.end_lineno or function.node.lineno) + 1)
            )
        ]
    return functions


def changed_lines(since: str) -> dict[str, set[int]]:
    """The lines of each module that differ from the git ref, by their numbers now."""
    diff = subprocess.run(
        ["git", "-C", str(ROOT), "diff", "-U0", "--no-ext-diff", since, "--", "src"],
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, set[int]] = {}
    path = ""
    for line in diff.stdout.splitlines():
        if line.startswith("+++ b/"):
            path = line.removeprefix("+++ b/")
        elif hunk := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            found.setdefault(path, set()).update(range(first, first + count))
    return found


def stages(mutant: Mutant, text: str, tests: Map, without: Set[str] = frozenset()) -> list[tuple[list[str], int]]:
    """The mutant's tests, fastest first, and how many were too slow: its package's, the others', slow-loading."""
    found = tests.tests_of(mutant.path, text, mutant.lines)
    found |= tests.tests_in(mirrored(mutant.path))
    if mutant.kind == "changed default":
        found |= tests.tests_in([_DEFAULTS["/adapters/" in mutant.path]])
    home = f"tests/{Path(mutant.path).parts[2].removesuffix('.py')}/"
    if not any(name.startswith(home) for name in found):  # perhaps only children ran it, killed before they told
        found |= tests.tests_in(str(file.relative_to(ROOT)) for file in sorted((ROOT / home).rglob("test_*.py")))
    found = {name: seconds for name, seconds in found.items() if name not in without}
    own = {name for name in found if name.startswith(home)}
    slow = {name for name in found if name.startswith(SLOW_TO_LOAD)} - own
    by_folder: dict[str, set[str]] = {}
    for name in slow:
        by_folder.setdefault(name.split("/")[1], set()).add(name)
    made = []
    for group in (own, found.keys() - own - slow, *by_folder.values()):
        spent, taken = 0.0, []
        for name in sorted(group, key=lambda name: (found[name], name)):
            if spent + found[name] > _BUDGET:
                break
            spent += found[name]
            taken.append(name)
        if group:
            made.append((taken, len(group) - len(taken)))
    return made


def mirrored(path: str) -> list[str]:
    """The test files that carry the module's name, in the folder that mirrors its package."""
    parts = Path(path).parts[2:]
    stem = Path(path).stem
    folder = ROOT / "tests" / parts[0] if len(parts) > 1 else ROOT / "tests"
    return [
        str(found.relative_to(ROOT))
        for found in sorted(folder.rglob("test_*.py") if len(parts) > 1 else folder.glob("test_*.py"))
        if stem in found.stem.removeprefix("test_").split("_") or found.stem == f"test_{stem}"
    ]


def try_mutant(mutant: Mutant, text: str, copy: Copy, tests: Map, without: Set[str] = frozenset()) -> Result:
    """Put the mutant into the copy, run its tests until one notices, and take it out again."""
    started = time.perf_counter()
    ran = left_out = 0
    verdict, by = "survived", ""
    copy.write(mutant.path, mutant.text)
    try:
        for names, too_slow in stages(mutant, text, tests, without):
            left_out += too_slow
            if not names:
                continue
            ran += len(names)
            outcome = copy.run(names, {name.split("::")[0] for name in names}, timeout=_timeout(names, tests))
            if outcome.code not in (0, 5):
                verdict, by = _noticed(outcome)
                break
    finally:
        copy.write(mutant.path, text)
    package = Function(mutant.path, "", None).package  # type: ignore[arg-type]
    spent = round(time.perf_counter() - started, 1)
    return Result(mutant.name, package, mutant.kind, mutant.line, verdict, by, ran, left_out, spent)


def _timeout(names: Sequence[str], tests: Map) -> float:
    took = tests.tests_in({name.split("::")[0] for name in names})
    return max(_LEAST_TIMEOUT, 3 * sum(took.get(name, 0.0) for name in names))


def _noticed(outcome: Outcome) -> tuple[str, str]:
    if outcome.timed_out:
        return "timeout", "the tests did not end"
    last = next((line for line in reversed(outcome.output.splitlines()) if line.strip()), "")
    return "noticed", outcome.failed or f"pytest ended with {outcome.code}: {last[:200]}"


def judge(results: Iterable[Result]) -> list[Result]:
    """Give survivors the verdict a person filed for them."""
    filed = json.loads(JUDGED.read_text("utf-8")) if JUDGED.exists() else {}
    return [
        Result(**(asdict(result) | filed[result.name]))
        if result.verdict == "survived" and result.name in filed
        else result
        for result in results
    ]


def recheck(results: Sequence[Result], copy: Copy) -> list[str]:
    """The tests that noticed a mutant but fail without one too: what they noticed is not proved."""
    return failing_of({result.by for result in results if result.verdict == "noticed" and "::" in result.by}, copy)


def failing_of(tests: Iterable[str], copy: Copy) -> list[str]:
    """Those of some tests that fail in the copy as it is."""
    names, failed = sorted(tests), []
    for folder in sorted({name.split("/")[1] for name in names}):
        here = [name for name in names if name.split("/")[1] == folder]
        outcome = copy.run(here, {name.split("::")[0] for name in here}, timeout=1200, stop=False)
        failed += [name for name, test in outcome.tests.items() if test["outcome"] == "failed"]
    return failed


def tabulate(results: Sequence[Result], *, title: str, command: str) -> str:
    """The results as a page: figures per package and kind, then what survived."""
    lines = [
        f"# {title}",
        "",
        f"`{command}`",
        "",
        "| package | mutants | change behaviour | noticed | |",
        "|---|---|---|---|---|",
    ]
    for heading, groups in (("package", _grouped(results, "package")), ("kind", _grouped(results, "kind"))):
        if heading == "kind":
            lines += ["", "| kind | mutants | change behaviour | noticed | |", "|---|---|---|---|---|"]
        for name, here in groups.items():
            real = [result for result in here if result.verdict not in ("equivalent", "tuning")]
            seen = sum(result.verdict in ("noticed", "timeout") for result in real)
            share = f"{100 * seen / len(real):.0f} %" if real else "–"
            lines.append(f"| {name} | {len(here)} | {len(real)} | {seen} | {share} |")
    for verdict in ("survived", "tuning", "equivalent", "timeout"):
        if here := [result for result in results if result.verdict == verdict]:
            lines += ["", f"## {verdict.capitalize()} ({len(here)})", ""]
            lines += [f"- `{result.name}` (line {result.line}, {result.tests} tests) {result.by}" for result in here]
    return "\n".join(lines) + "\n"


def _grouped(results: Sequence[Result], field: str) -> dict[str, list[Result]]:
    names = sorted({getattr(result, field) for result in results})
    groups = {name: [result for result in results if getattr(result, field) == name] for name in names}
    return {"**all**": list(results)} | groups


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=20, help="how many mutants (default 20)")
    parser.add_argument("--seed", type=int, default=0, help="the drawing is the same for the same tree and seed")
    parser.add_argument("--package", help="only this package, `app` for the library's own modules")
    parser.add_argument("--since", metavar="REF", help="only functions changed since this git ref")
    parser.add_argument("--workers", type=int, default=1, help="copies that run side by side (default 1)")
    parser.add_argument("--out", type=Path, default=ROOT / ".mutate" / "last", help="writes OUT.json and OUT.md")
    parser.add_argument("--list", action="store_true", help="show the drawing, run nothing")
    parser.add_argument("--map", action="store_true", help="bring the map of tests up to date, draw nothing")
    parser.add_argument("--as-mapped", action="store_true", help="use the map as it is, even if tests changed since")
    parser.add_argument("--again", type=Path, metavar="JSON", help="the mutants of an earlier result that survived")
    given = parser.parse_args()

    texts = sources()
    functions = choose(texts, package=given.package, since=given.since)
    drawn = _again(functions, texts, given.again) if given.again else draw(functions, texts, n=given.n, seed=given.seed)
    if given.list:
        for mutant in drawn:
            print(f"{mutant.line:5} {mutant.name}")
        return 0
    with tempfile.TemporaryDirectory(prefix="mutate-") as folder:
        if not given.as_mapped:
            update_map(Path(folder, "map"))
        if given.map:
            return 0
        results = try_all(drawn, texts, Path(folder), workers=given.workers)
    command = f"python scripts/{Path(__file__).name} {' '.join(sys.argv[1:])}"
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.with_suffix(".json").write_text(json.dumps([asdict(result) for result in results], indent=1), "utf-8")
    page = tabulate(results, title=f"{len(results)} mutants, seed {given.seed}", command=command)
    given.out.with_suffix(".md").write_text(page, encoding="utf-8")
    print(page)
    return 0


def update_map(folder: Path) -> None:
    """Trace the test files the map does not know, a folder of tests at a time."""
    tests = Map()
    by_folder: dict[str, list[str]] = {}
    for file in tests.stale():
        by_folder.setdefault(str(Path(file).parent), []).append(file)
    if by_folder:
        copy = Copy(folder)
        for name, files in by_folder.items():
            print(f"tracing {name}: {len(files)} files", flush=True)
            tests.trace(copy, files, timeout=3600)


def try_all(drawn: Sequence[Mutant], texts: dict[str, str], folder: Path, *, workers: int) -> list[Result]:
    """Every mutant's result, in the order of the drawing; each worker has a copy."""
    copies: SimpleQueue[Copy] = SimpleQueue()
    for number in range(workers):
        copies.put(Copy(folder / str(number)))

    copy = copies.get()
    failing = set(failing_of(Map().failed(), copy))  # without a mutant too: what they notice proves nothing
    copies.put(copy)
    if failing:
        print(f"fail without a mutant, left out: {', '.join(sorted(failing))}", flush=True)

    def run(numbered: tuple[int, Mutant]) -> Result:
        number, mutant = numbered
        copy = copies.get()
        try:
            result = try_mutant(mutant, texts[mutant.path], copy, Map(), failing)
        finally:
            copies.put(copy)
        print(f"{number}/{len(drawn)} {result.verdict} {result.seconds} s {result.name} | {result.by}", flush=True)
        return result

    with ThreadPoolExecutor(workers) as pool:
        results = list(pool.map(run, enumerate(drawn, start=1)))
        while True:
            copy = copies.get()
            found = set(recheck(results, copy)) - failing
            copies.put(copy)
            if not found:
                return judge(results)
            failing |= found
            print(f"fail without a mutant too, left out from now on: {', '.join(sorted(found))}", flush=True)
            again = [place for place, result in enumerate(results) if result.by in found]
            for place, result in zip(again, pool.map(run, [(n + 1, drawn[n]) for n in again]), strict=True):
                results[place] = result


def _again(functions: Sequence[Function], texts: dict[str, str], earlier: Path) -> list[Mutant]:
    from mutate_ast import mutants_of

    wanted = {r["name"] for r in json.loads(earlier.read_text("utf-8")) if r["verdict"] == "survived"}
    every = (mutant for function in functions for mutant in mutants_of(function, texts[function.path]))
    return list({mutant.name: mutant for mutant in every if mutant.name in wanted}.values())


if __name__ == "__main__":
    sys.exit(main())
