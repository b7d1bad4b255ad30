"""What the secret scanner finds, what it wrongly takes, and what it costs.

    python benchmarks/secret_scanner.py [--only PART] [--show] [--seed N]

Generated here, whatever the machine has: secrets planted in files and sentences (`secret_samples`), and tokens in the
formats that vendors document, each also without its vendor's rule. From `../shared/data`, where that is present:
samples drawn from the gitleaks rules (a yardstick, never shipped), the leaky repository of planted secrets, and false
alarms on dialogue, agent traces and commit histories. Those on source code are counted in the installed packages.
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
import sysconfig
import tarfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from re import _parser  # type: ignore[attr-defined]
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "src"), str(Path(__file__).resolve().parent)]
from secret_samples import HOSTS, TEMPLATES, USERS, VENDORS, Draw  # noqa: E402

from recollect.privacy.rules import GENERIC, RULES  # noqa: E402
from recollect.privacy.scan import Finding, Scanner, scan  # noqa: E402

SEED = 20260101
SAMPLES = 20  # of each rule
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


def plant(template: str, draw: Draw) -> tuple[str, list[tuple[int, int]]]:
    """A template with its kinds drawn, and where the secrets stand."""
    text, spans = "", []
    for literal, kind, _, _ in string.Formatter().parse(template):
        text += literal
        if kind in ("user", "host"):
            text += draw.chance.choice(USERS if kind == "user" else HOSTS)
        elif kind:
            value = draw.value(kind)
            spans.append((len(text), len(text) + len(value)))
            text += value
    return text, spans


def planted(seed: int, show: bool) -> None:
    """Secrets in files and sentences as people write them."""
    draw = Draw(seed)
    print(f"\nplanted in files and sentences (seed {seed}): found / planted, whole value")
    everything: list[float] = []
    for place, templates in TEMPLATES.items():
        caught: list[float] = []
        for template in templates:
            misses = 0
            for _ in range(SAMPLES):
                text, spans = plant(template, draw)
                findings = scan(text)
                for start, end in spans:
                    part = covered(findings, start, end)
                    caught.append(part)
                    misses += not part
                    if show and not part:
                        print(f"    {text!r}")
            if misses > SAMPLES // 4:
                print(f"    missed {misses}/{SAMPLES}: {template!r}")
        everything += caught
        whole = sum(part >= WHOLE for part in caught) / len(caught)
        print(f"  {place:20} {share(caught)}  whole {whole:.3f}")
    print(f"  {'all':20} {share(everything)}")


def vendors(seed: int, show: bool) -> None:
    """Documented formats: with every rule, and with the generic rules alone, as if the vendor were unknown."""
    draw = Draw(seed)
    generic = Scanner(GENERIC)
    tally: dict[str, dict[str, list[float]]] = {}
    for vendor, form in VENDORS:
        rows = tally.setdefault(vendor, {"all": [], "alone": [], "alone, named": []})
        for n in range(SAMPLES):
            value, _ = plant(form, draw)
            context = list(CONTEXTS)[n % len(CONTEXTS)]
            text, start, end = embed((value, 0, len(value)), f"{vendor.replace('-', '_').upper()}_API_KEY", context)
            rows["all"].append(covered(scan(text), start, end) >= WHOLE)
            found = covered(generic.scan(text), start, end) >= WHOLE
            rows["alone" if context == "bare" else "alone, named"].append(found)
            if show and not rows["all"][-1]:
                print(f"    {vendor}: {text!r}")
    print(f"\nvendors' formats, {len(tally)} vendors, {len(VENDORS)} formats (seed {seed}); whole value")
    print("  left out: the generic rules alone find it beside a name / with nothing beside it")
    for vendor, rows in sorted(tally.items()):
        whole, named, bare = (sum(rows[key]) / len(rows[key]) for key in ("all", "alone, named", "alone"))
        mark = "" if whole >= 0.98 else "  <"
        print(f"    {vendor:16} {whole:.2f}   left out {named:.2f} / {bare:.2f}{mark}")
    for key in ("all", "alone, named", "alone"):
        print(f"  {key:14} {share([one for rows in tally.values() for one in rows[key]])}")
    weak = [vendor for vendor, rows in tally.items() if sum(rows["alone, named"]) / len(rows["alone, named"]) < 0.9]
    print(f"  left out and named, found in less than 9 of 10: {', '.join(weak) or 'none'}")


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


def wide_trace_texts(data: Path) -> Iterator[tuple[str, str]]:
    """Every fifth text of the sessions of a dozen further projects."""
    for path in sorted((data / "traces-wide").glob("*.jsonl.gz")):
        with gzip.open(path, "rt") as lines:
            for line in lines:
                texts = [text for text in _texts_in(json.loads(line)) if 20 < len(text) < 20_000]
                yield from (("wide trace", text) for text in texts[::5])


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(item)


def histories(data: Path) -> Iterator[str]:
    for path in sorted((data / "history").glob("*.log.gz")):
        with gzip.open(path, "rt", errors="replace") as lines:
            for number, block in enumerate(lines.read().split("\n@")):
                if number % 200 == 0:
                    yield block[:20_000]


def sources(packages: Path, kinds: tuple[str, ...]) -> Iterator[str]:
    """Files of source code in installed packages."""
    for path in sorted(packages.rglob("*")):
        if path.suffix in kinds and path.is_file() and path.stat().st_size < 200_000:
            yield path.read_text(encoding="utf-8", errors="replace")


def false_positives(data: Path | None, packages: Path, show: bool) -> None:
    groups: dict[str, list[str]] = {
        "code .py": list(sources(packages, (".py", ".pyi")))[::3],
        "code .js .ts": list(sources(packages, (".js", ".ts", ".css", ".mjs")))[::2],
        "metadata": list(sources(packages, (".toml", ".json", ".txt", ".md", ".cfg", ".yaml", ".yml"))),
    }
    if data:
        groups["dialogue"] = turns(data)
        groups["histories"] = list(histories(data))
        for kind, text in (*trace_texts(data), *wide_trace_texts(data)):
            groups.setdefault(f"trace {kind}" if kind != "wide trace" else kind, []).append(text)
    print("\nflagged per 1,000 texts (a planted or real secret counts here too until judged)")
    flagged = total = 0
    for name, texts in groups.items():
        found = [(text, findings) for text in texts if (findings := scan(text))]
        rules = Counter(f.rule for _, findings in found for f in findings)
        size = sum(map(len, texts)) / 1e6
        rate = 1000 * len(found) / max(1, len(texts))
        flagged, total = flagged + len(found), total + len(texts)
        print(f"  {name:16} {rate:6.2f}  n={len(texts)} ({size:.1f} MB)  {dict(rules.most_common(8))}")
        for text, findings in found if show else ():
            for f in findings:
                print(f"    {f.rule}: {text[max(0, f.start - 60) : f.start]!r} >>> {text[f.start : f.end][:90]!r}")
    print(f"  {'all':16} {1000 * flagged / total:6.2f}  n={total}")


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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared/data")
    parser.add_argument("--packages", type=Path, default=Path(sysconfig.get_paths()["purelib"]))
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument(
        "--show", action="store_true", help="print every miss and every hit on benign texts, to be judged"
    )
    parser.add_argument("--only", choices=("planted", "vendors", "yardstick", "leaky", "benign", "speed"))
    options = parser.parse_args()
    shared = (options.data / "sec/gitleaks.toml").exists()
    parts: dict[str, Callable[[], None]] = {
        "planted": lambda: planted(options.seed, options.show),
        "vendors": lambda: vendors(options.seed, options.show),
        "benign": lambda: false_positives(options.data if shared else None, options.packages, options.show),
    }
    if shared:
        parts["yardstick"] = lambda: yardstick(options.data, options.show)
        parts["leaky"] = lambda: leaky(options.data)
        parts["speed"] = lambda: speed(options.data)
    else:
        print(f"no data at {options.data}: yardstick, leaky repository, dialogue, traces and speed are skipped")
    print(f"{len(RULES)} rules")
    for name, part in parts.items():
        if options.only in (None, name):
            part()


if __name__ == "__main__":
    main()
