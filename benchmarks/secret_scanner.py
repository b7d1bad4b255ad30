"""What the secret scanner finds, what it wrongly takes, and what it costs.

Recall on samples drawn from the gitleaks rules (a yardstick, never shipped) and on the leaky repository of planted
secrets; false positives on dialogue and agent traces; speed as a ratio to one trivial `re.search`. Reads only
`../shared/data` and says so when it is not there.
"""

import argparse
import csv
import gzip
import json
import math
import random
import re
import string
import sys
import tarfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from re import _parser  # type: ignore[attr-defined]
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
from recollect.privacy.scan import Finding, scan

SEED = 20260101
SAMPLES = 40  # of each rule
TRIES = 60  # before a rule counts as not drawable
WHOLE = 0.9  # of a secret's characters must lie in findings for it to be gone
PREFIX_LEAST = 3
PRINTABLE = [ord(c) for c in string.ascii_letters + string.digits + string.punctuation + " "]
CATEGORIES = {
    "CATEGORY_DIGIT": string.digits,
    "CATEGORY_WORD": string.ascii_letters + string.digits + "_",
    "CATEGORY_SPACE": " ",
    "CATEGORY_NOT_SPACE": string.ascii_letters + string.digits + "+-_=!",
}
CONTEXTS = {
    "bare": "please use {} for the deploy",
    "env": "export {name}={}\n",
    "json": '{{"{name}": "{}"}}',
    "yaml": "{name}: {}\n",
    "escaped": '{{\\"{name}\\": \\"{}\\"}}',
}


def to_python(pattern: str) -> str:
    """Go's regular expression syntax as Python reads it: flags in the middle, POSIX classes, the end of text."""
    pattern = pattern.replace(r"\z", r"\Z").replace("[[:alnum:]]", "[A-Za-z0-9]")
    at = pattern.find("(?i)", 1)
    while at >= 0:
        end = _group_end(pattern, at + 4)
        pattern = f"{pattern[:at]}(?i:{pattern[at + 4 : end]}){pattern[end:]}"
        at = pattern.find("(?i)", 1)
    return pattern


def _group_end(pattern: str, at: int) -> int:
    """Where the group around `at` closes."""
    depth, in_class = 0, False
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 1
        elif in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
        elif char == "(":
            depth += 1
        elif char == ")":
            if not depth:
                return at
            depth -= 1
        at += 1
    return at


class Sampler:
    """Draws strings that a parsed pattern would match."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def draw(self, nodes: Any) -> str:
        return "".join(self._node(str(op), value) for op, value in nodes)

    def _node(self, op: str, value: Any) -> str:
        if op == "LITERAL":
            return chr(value)
        if op == "NOT_LITERAL":
            return chr(self.chance.choice([c for c in PRINTABLE if c != value]))
        if op == "ANY":
            return self.chance.choice(string.ascii_lowercase)
        if op == "IN":
            return self._of_class(value)
        if op == "BRANCH":
            return self.draw(self.chance.choice(value[1]))
        if op == "SUBPATTERN":
            return self.draw(value[-1])
        if op in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            return self._repeated(*value)
        return ""

    def _repeated(self, least: int, most: Any, nodes: Any) -> str:
        if least == 0 and self.chance.random() < 0.5:
            return ""
        times = self.chance.randint(least, min(int(most), least + 12))
        return "".join(self.draw(nodes) for _ in range(times))

    def _of_class(self, items: Any) -> str:
        allowed: set[int] = set()
        negated = False
        for op, value in items:
            match str(op):
                case "LITERAL":
                    allowed.add(value)
                case "RANGE":
                    allowed |= set(range(value[0], value[1] + 1))
                case "CATEGORY":
                    allowed |= {ord(c) for c in CATEGORIES[str(value)]}
                case "NEGATE":
                    negated = True
        choice = [c for c in PRINTABLE if (c in allowed) != negated] or sorted(allowed)
        return chr(self.chance.choice(choice))


def entropy(value: str) -> float:
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


def secret_of(match: re.Match[str], group: int) -> tuple[int, int]:
    """The span gitleaks calls the secret: the named group, else the first group that holds something."""
    if group:
        return match.span(group)
    return next((match.span(i + 1) for i, text in enumerate(match.groups()) if text), match.span())


def literal_run(nodes: Any) -> int:
    """The longest stretch of fixed characters every match contains."""
    best = run = 0
    for op, value in nodes:
        inner = 0
        match str(op):
            case "LITERAL":
                run += 1
            case "AT":
                pass
            case "SUBPATTERN":
                inner, run = literal_run(value[-1]), 0
            case "BRANCH":
                inner, run = min(literal_run(branch) for branch in value[1]), 0
            case _:
                run = 0
        best = max(best, run, inner)
    return best


def secret_nodes(nodes: Any, group: int) -> Any:
    """The part of the tree that is the secret, or all of it."""
    for op, value in nodes:
        if str(op) == "SUBPATTERN":
            if value[0] == group:
                return value[-1]
            if (inner := secret_nodes(value[-1], group)) is not None:
                return inner
    return None


def draw(rule: dict[str, Any]) -> list[tuple[str, int, int]]:
    """Samples of one yardstick rule with the span of the secret in each."""
    pattern = re.compile(to_python(rule["regex"]))
    tree = _parser.parse(pattern.pattern)
    sampler = Sampler(SEED)
    samples = []
    for _ in range(SAMPLES * TRIES):
        match = pattern.search(sampler.draw(tree))
        if match:
            start, end = secret_of(match, rule.get("secretGroup", 0))
            if entropy(match.string[start:end]) >= rule.get("entropy", 0.0):
                samples.append((match.string, start, end))
        if len(samples) == SAMPLES:
            break
    return samples


def is_prefixed(rule: dict[str, Any]) -> bool:
    tree = _parser.parse(to_python(rule["regex"]))
    nodes = secret_nodes(tree, rule.get("secretGroup", 1))
    return literal_run(tree if nodes is None else nodes) >= PREFIX_LEAST


def covered(findings: Iterable[Finding], start: int, end: int) -> float:
    """The share of the secret that lies in findings."""
    return sum(max(0, min(end, f.end) - max(start, f.start)) for f in findings) / (end - start)


def embed(sample: tuple[str, int, int], name: str, context: str) -> tuple[str, int, int]:
    text, start, end = sample
    if end - start < len(text.strip("\"'` \n;")):
        return f"config:\n{text}\n", start + 8, end + 8
    head, tail = CONTEXTS[context].replace("{name}", name).replace("{{", "{").replace("}}", "}").split("{}", 1)
    return head + text[start:end] + tail, len(head), len(head) + end - start


def yardstick(data: Path, show: bool) -> None:
    rules = tomllib.loads((data / "sec/gitleaks.toml").read_text())["rules"]
    tally: dict[tuple[str, str], list[float]] = {}
    missed: Counter[str] = Counter()
    skipped = []
    for rule in rules:
        samples = draw(rule) if "regex" in rule else []
        if not samples:
            skipped.append(rule["id"])
            continue
        kind = "prefixed" if is_prefixed(rule) else "generic"
        for n, sample in enumerate(samples):
            context = list(CONTEXTS)[n % len(CONTEXTS)]
            text, start, end = embed(sample, rule["id"].replace("-", "_").upper(), context)
            caught = covered(scan(text), start, end)
            for key in ((kind, "all"), (kind, context)):
                tally.setdefault(key, []).append(caught)
            missed[f"{rule['id']} ({kind})"] += not caught
            if show and not caught:
                print(f"    {rule['id']}: {text!r}")
    print(f"\ngitleaks yardstick: {len(rules)} rules, {len(skipped)} not drawable ({', '.join(skipped)})")
    for (kind, context), caught_all in sorted(tally.items()):
        whole = sum(part >= WHOLE for part in caught_all) / len(caught_all)
        print(f"  {kind:9} {context:8} flagged {share(caught_all)}  whole value {whole:.3f}")
    print("  most missed:", ", ".join(f"{name} {n}/{SAMPLES}" for name, n in missed.most_common(24) if n))


def share(values: list[Any]) -> str:
    return f"{sum(map(bool, values)) / len(values):.3f}  n={len(values)}"


def leaky(data: Path) -> None:
    with tarfile.open(data / "sec/leaky_repo.tar.gz") as tar:
        files = {m.name.removeprefix("./"): tar.extractfile(m) for m in tar.getmembers() if m.isfile()}
        texts = {name: file.read().decode("utf-8", "replace") for name, file in files.items() if file}
    listed = next(text for name, text in texts.items() if name.endswith(".leaky-meta/secrets.csv"))
    root = next(name for name in texts if name.endswith(".leaky-meta/secrets.csv"))[: -len(".leaky-meta/secrets.csv")]
    rows = [row for row in csv.reader(listed.splitlines()) if row and not row[0].startswith("#")]
    totals: Counter[str] = Counter()
    print("\nleaky repository: lines found / lines of risk (+ informative)")
    for name, risk, informative in rows:
        text = texts[root + name]
        found = len({text.count("\n", 0, finding.start) for finding in scan(text)})
        counted = min(found, int(risk))
        listed_lines = int(risk) + int(informative)
        totals.update(found=counted, risk=int(risk), files=found > 0, over=max(0, found - listed_lines))
        totals.update(any=min(found, listed_lines), listed=listed_lines)
        if counted < int(risk):
            print(f"  {name:42} {found}/{risk} (+{informative})")
    print(f"  all: {totals['found']}/{totals['risk']} risk lines = {totals['found'] / totals['risk']:.3f}")
    print(
        f"       {totals['any']}/{totals['listed']} counting informative lines too, as the repository's own table does"
    )
    print(f"       files {totals['files']}/{len(rows)}, lines beyond what is listed {totals['over']}")


def turns(data: Path) -> list[str]:
    talks = json.loads((data / "conv/locomo_conversations_0-4.json").read_text())
    sessions = (value for talk in talks for value in talk.get("conversation", talk).values() if isinstance(value, list))
    return [turn["text"] for session in sessions for turn in session if isinstance(turn, dict) and "text" in turn]


def trace_texts(data: Path) -> Iterator[tuple[str, str]]:
    for path in sorted((data / "traces").glob("*.events.jsonl.gz")):
        with gzip.open(path, "rt") as lines:
            for line in lines:
                event = json.loads(line)
                text = event.get("text") or event.get("result")
                if isinstance(text, str) and text.strip():
                    yield event["k"], text


def false_positives(data: Path, show: bool) -> None:
    groups: dict[str, list[str]] = {"dialogue": turns(data)}
    for kind, text in trace_texts(data):
        groups.setdefault(f"trace {kind}", []).append(text)
    print("\nflagged per 1,000 texts (a planted or real secret counts here too until judged)")
    for name, texts in groups.items():
        found = [(text, findings) for text in texts if (findings := scan(text))]
        rules = Counter(f.rule for _, findings in found for f in findings)
        size = sum(map(len, texts)) / 1e6
        rate = 1000 * len(found) / len(texts)
        print(f"  {name:16} {rate:6.2f}  n={len(texts)} ({size:.1f} MB)  {dict(rules.most_common(8))}")
        for text, findings in found if show else ():
            for f in findings:
                print(f"    {f.rule}: {text[max(0, f.start - 60) : f.start]!r} >>> {text[f.start : f.end][:90]!r}")


def best(times: int, run: Callable[[], object]) -> float:
    def once() -> float:
        start = time.process_time()
        run()
        return time.process_time() - start

    return min(once() for _ in range(times))


def speed(data: Path) -> None:
    texts = turns(data)
    size = sum(len(text.encode()) for text in texts) / 1e6
    trivial = re.compile("zq[0-9]")
    ours = best(3, lambda: [scan(text) for text in texts])
    theirs = best(3, lambda: [trivial.search(text) for text in texts])
    longer = [" ".join(texts[i : i + 8])[:1000] for i in range(0, len(texts), 8)]
    one_kb = best(3, lambda: [scan(text) for text in longer]) / len(longer)
    print(
        f"\nspeed: {len(texts) / ours:,.0f} texts/s, {size / ours:.1f} MB/s, {1e6 * ours / len(texts):.1f} µs a turn, "
        f"{1e6 * one_kb:.1f} µs for 1 kB; {ours / theirs:.1f} times one trivial re.search  n={len(texts)}"
    )
    tools = [text for kind, text in trace_texts(data) if kind == "tool"][::4]
    spent = best(1, lambda: [scan(text) for text in tools])
    print(f"       tool results {sum(map(len, tools)) / 1e6 / spent:.1f} MB/s  n={len(tools)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared/data")
    parser.add_argument(
        "--show", action="store_true", help="print every miss and every hit on benign texts, to be judged"
    )
    parser.add_argument("--only", choices=("yardstick", "leaky", "benign", "speed"))
    options = parser.parse_args()
    if not (options.data / "sec/gitleaks.toml").exists():
        print(f"skipped: no data at {options.data}")
        return
    parts: dict[str, Callable[[], None]] = {
        "yardstick": lambda: yardstick(options.data, options.show),
        "leaky": lambda: leaky(options.data),
        "benign": lambda: false_positives(options.data, options.show),
        "speed": lambda: speed(options.data),
    }
    for name, part in parts.items():
        if options.only in (None, name):
            part()


if __name__ == "__main__":
    main()
