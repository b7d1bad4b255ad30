"""How things stand: status, logs, doctor, trend."""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.app import Recollect
from recollect.core.conversations import Turn
from recollect.core.errors import RecollectError
from recollect.core.text import counted, excerpt
from recollect.files.project import state_folder, user_store_path
from recollect.interfaces.cli.console import FINE, FOUND, Console, filter_arguments, filter_from, open_from
from recollect.interfaces.payloads.memories import entry_json
from recollect.interfaces.payloads.people import turn_json
from recollect.interfaces.payloads.store import status_json, trend_json
from recollect.recall.trend import PERIODS
from recollect.tend.maintenance import backups_beside, engine_version, strange_logs_beside
from recollect.version import __version__
from recollect.wiring import is_on_server, locate

if TYPE_CHECKING:
    from recollect.app import Recollect
    from recollect.core.log import Entry

# --- status and logs -----------------------------------------------------------------------------------------------


def arguments_status(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=int, default=5, metavar="N", help="sessions to list (default 5)")


def run_status(args: argparse.Namespace, console: Console) -> int:
    with open_from(args) as memory:
        status = status_json(memory, limit=args.limit)
    if console.json:
        console.value(status)
        return FINE
    console.line(f"memories   {_join_counts(status['memories'])}")
    console.line(f"sessions   {_describe_sessions(status['sessions'], status['observer']['sessions'])}")
    for statu in status["latest"]:
        episodes = counted(statu["episodes"], "episode")
        console.line(f"           {statu['id']} · {statu['state']} · {episodes} · {statu['last_at'][:16]}")
    console.line(f"entities   {_join_counts(status['entities'])}")
    turns = status["turns"]
    by = f" · by {_join_counts(turns['providers'])}" if turns["providers"] else ""
    console.line(f"turns      {_join_counts(turns['states'])}{by}")
    console.line(f"observer   {_describe_observer(status['observer'])}")
    console.line(f"review     {_describe_review(status['review']['waiting'], status['review']['questions'])}")
    for growth in status["growth"]:
        console.line(f"growth     {growth['advice']}")
    spend = status["spend"]
    console.line(f"model      {spend['model']} · {spend['today']:,} of {spend['per_day']:,} tokens today")
    for cost in spend["features"]:
        console.line(
            f"           {cost['feature']}: {cost['tokens']:,} tokens, {cost['calls']} calls, {cost['failures']} failed"
        )
    for job in status["jobs"]:
        told = f" · {job['note']}" if job["note"] else ""
        console.line(f"job        {job['name']} · {job['outcome'] or 'never ran'} · last {job['ran_at'] or '–'}{told}")
    return FINE


def _describe_sessions(conversations: Mapping[str, int], observed: int) -> str:
    """Conversations that are remembered by their state, and sessions of agents that were observed."""
    return _join_counts({**conversations, **({"observed": observed} if observed else {})})


def _describe_review(waiting: int, questions: Mapping[str, int]) -> str:
    if not waiting:
        return "nothing needs review"
    asked = _join_counts({name: count for name, count in questions.items() if count})
    return f"{waiting:,} {'memory needs' if waiting == 1 else 'memories need'} review: run `recollect review` ({asked})"


def _describe_observer(seen: dict[str, Any]) -> str:
    if not seen["sessions"]:
        return "nothing observed yet; `recollect observe` learns from transcripts"
    parts = [counted(seen[f"{noun}s"], noun) for noun in ("session", "call", "error")]
    if seen["slow_events"]:
        parts.append(f"{seen['slow_events']:,} of {seen['events']:,} events took over 2 ms")
    return " · ".join(parts)


def arguments_logs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=int, default=20, metavar="N")
    parser.add_argument("--job", metavar="NAME", help="only what this job did")
    parser.add_argument("--turns", action="store_true", help="only turns of chats")
    parser.add_argument("--session", metavar="NAME", help="only turns of this session")


def run_logs(args: argparse.Namespace, console: Console) -> int:
    with open_from(args) as memory:
        entries = [] if args.turns or args.session else memory.maintenance.runs(job=args.job, limit=max(0, args.limit))
        turns = () if args.job else memory.chats.turns(session=args.session, limit=max(0, args.limit))
    both: list[Entry | Turn] = [*entries, *turns]
    both = sorted(both, key=lambda one: one.at, reverse=True)[: max(0, args.limit)]
    if console.json:
        console.value([turn_json(one) if isinstance(one, Turn) else entry_json(one) for one in both])
        return FINE
    for one in both:
        show_turn(one, console) if isinstance(one, Turn) else _show_job(one, console)
    if not both:
        console.line("Nothing was said or done by itself yet. `recollect tend` does what is due.")
    return FINE


def _show_job(entry: Entry, console: Console) -> None:
    told = entry.change.after or {}
    details = ", ".join(f"{value} {name}" for name, value in told.get("details", {}).items())
    console.line(
        f"{entry.at:%Y-%m-%d %H:%M} {told.get('job', '?')} {told.get('outcome', '?')}"
        f" · {told.get('done', 0)} done, {told.get('waiting', 0)} waiting{f' · {details}' if details else ''}"
    )
    for note in told.get("notes", ()):
        console.line(f"                 ! {note}")


def show_turn(turn: Turn, console: Console) -> None:
    """A turn in a few lines."""
    calls = f" · {', '.join(call.name for call in turn.calls)}" if turn.calls else ""
    spent = f" · {turn.tokens_in + turn.tokens_out:,} tokens" if turn.tokens_in else ""
    console.line(f"{turn.at:%Y-%m-%d %H:%M} {turn.session} {turn.state} · {turn.provider}{calls}{spent}")
    console.line(f"                 > {excerpt(turn.input, 100)}")
    if turn.output:
        console.line(f"                 < {excerpt(turn.output, 100)}")
    if turn.note:
        console.line(f"                 ! {excerpt(turn.note, 200)}")


def _join_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items()) or "none"


# --- doctor: versions, the file, a real write and read, indexes, backups, lock, hosts --------------------------------


def arguments_doctor(parser: argparse.ArgumentParser) -> None:
    pass


def run_doctor(args: argparse.Namespace, console: Console) -> int:
    facts, worries = examine(args)
    if console.json:
        console.value({"ok": not worries, "facts": facts, "worries": worries})
        return FOUND if worries else FINE
    for name, value in facts.items():
        if isinstance(value, list):
            console.line(f"{name:>14}  {len(value)}")
            for item in value[:10]:
                console.line(f"{'':>14}    {item}")
        else:
            console.line(f"{name:>14}  {value}")
    for worry in worries:
        console.line(f"  ! {worry}")
    console.line("All well." if not worries else f"{counted(len(worries), 'thing')} to look at.")
    return FOUND if worries else FINE


_LARGE_LOG = 64 * 2**20  # bytes: a log beyond this means that some reader never ends


def examine(args: argparse.Namespace) -> tuple[dict[str, Any], list[str]]:
    """Facts to show and worries to act on. Never raises for a broken store: that is what it is there to tell."""
    path = locate(args.store)
    facts: dict[str, Any] = {
        "recollect": __version__,
        "python": platform.python_version(),
        "sqlite": engine_version(),
        "store": args.store.rpartition("@")[2] if is_on_server(args.store) else str(path),
    }
    worries: list[str] = []
    try:
        with open_from(args) as memory:
            _examine_store(memory, facts, worries)
    except RecollectError as error:
        worries.append(f"{error} {error.hint}")
    if path is not None and path.parent.is_dir():
        _examine_folder(path, facts, worries)
    _examine_hosts(facts, worries)
    return facts, worries


def _examine_store(memory: Recollect, facts: dict[str, Any], worries: list[str]) -> None:
    store = memory.maintenance.facts()
    facts["project"] = memory.project
    if is_on_server(memory.location):
        facts["store"], facts["database"] = memory.location, store.engine
    worries += memory.notices
    facts["origin"] = "foreign" if memory.is_foreign else "yours"
    facts["schema"] = store.schema
    facts["memories"] = _join_counts(store.memories)
    facts["review"] = _describe_review(memory.review.count(), memory.review.questions())
    growth = memory.overview.growth(probe=True)
    facts["growth"] = ", ".join(one.describe() for one in growth) or "no limits: not one file"
    worries += [one.advice for one in growth if one.advice]
    if store.model is not None:
        facts["vectors"] = f"{store.model}, {store.unembedded:,} memories waiting"
        if memory.reader.context().dense is None:
            facts["vectors"] += ", not used: no embedder is configured"
    if not memory.is_foreign:
        worries += memory.reader.check_models()
    if memory.maintenance.try_writing():  # 'healthy' must not mean 'nobody tried'
        facts["round trip"] = "ok"
    if store.erasing:
        worries.append("An erasure was interrupted: run `recollect erase --resume`.")
    worries += [f"{finding.area}: {finding.problem}" for finding in memory.maintenance.check(quick=True).findings]


def _examine_hosts(facts: dict[str, Any], worries: list[str]) -> None:
    """Where it is installed, for the person and for the project; if anywhere, hook and server are tried."""
    from recollect.agent.hosts.catalog import HOSTS
    from recollect.agent.hosts.check import check_host, hook_latency, server_handshake
    from recollect.agent.hosts.target import current_target

    try:
        targets = [current_target("user"), current_target("project")]
    except RecollectError as error:
        facts["hosts"] = []
        if any((user_store_path().parent / "hosts" / "installed").glob("*.json")):
            worries.append(f"{error} {error.hint}")
        return
    found = [checked for target in targets for host in HOSTS if (checked := check_host(host, target)) is not None]
    facts["hosts"] = [f"{one.host} ({one.scope}): {', '.join(one.facts)}" for one in found]
    worries += [worry for one in found for worry in one.worries]
    if not found:
        return
    target = targets[0]
    environment = dict(os.environ)
    took = hook_latency(target.hook, folder=Path.cwd(), environment=environment)
    facts["hook"] = f"p50 {took.p50:.0f} ms, p95 {took.p95:.0f} ms over {took.n} starts"
    if took.failed:
        worries.append(f"The hook failed in {took.failed} of {took.n + 1} starts; its log is in {state_folder()}.")
    answer = server_handshake(target.recollect, folder=Path.cwd(), environment=environment)
    facts["server"] = "no answer" if answer is None else f"answered in {answer[0]:.0f} ms with {answer[1]} tools"
    if answer is None:
        worries.append("The MCP server does not answer. Is the extra there? `pip install 'recollect[mcp]'`.")


def _examine_folder(path: Path, facts: dict[str, Any], worries: list[str]) -> None:
    facts["size"] = f"{path.stat().st_size / 2**20:.1f} MB" if path.exists() else "no file"
    log = Path(f"{path}-wal")
    if log.exists() and log.stat().st_size > _LARGE_LOG:
        worries.append(f"The log has grown to {log.stat().st_size / 2**20:.0f} MB: some process reads without end.")
    facts["backups"] = [f"{one.path.name} ({one.memories:,} memories)" for one in backups_beside(path)]
    quarantine = path.parent / "quarantine"
    facts["quarantine"] = sorted(entry.name for entry in quarantine.iterdir()) if quarantine.is_dir() else []
    worries.extend(
        f"A log that this store did not write lay beside it and was moved to {folder}. It came from outside, perhaps "
        "with a pull: find out how, then delete the folder."
        for folder in strange_logs_beside(path)
    )
    holder = _lock_holder(Path(f"{path}-lock"))
    facts["lock"] = f"held by process {holder}" if holder else "free"


def _lock_holder(lock: Path) -> int | None:
    """The process that holds the writers' lock, where the system tells (Linux)."""
    try:
        wanted = f":{lock.stat().st_ino}"
        lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    for line in lines:
        parts = line.split()
        if "FLOCK" in parts and parts[5].endswith(wanted) and int(parts[4]) != os.getpid():
            return int(parts[4])
    return None


def arguments_trend(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="*", help="words that the memories hold; none: any")
    parser.add_argument("--by", choices=PERIODS, default="week", help="the period that is counted by (default week)")
    parser.add_argument("--days", type=int, default=90, metavar="N", help="how far back (default 90)")
    filter_arguments(parser)


_BAR = 40  # characters of the longest bar


def run_trend(args: argparse.Namespace, console: Console) -> int:
    with open_from(args) as memory:
        trend = memory.trend(" ".join(args.text), by=args.by, days=args.days, filter=filter_from(args))
    if console.json:
        console.value(trend_json(trend))
        return FINE
    most = max((period.count for period in trend.periods), default=0)
    for period in trend.periods:
        bar = "#" * round(_BAR * period.count / most) if most else ""
        console.line(f"{period.start:%Y-%m-%d}  {period.count:>6,}  {bar}".rstrip())
    console.line(f"{counted(trend.total, 'time')} in all, {trend.direction}.")
    return FINE
