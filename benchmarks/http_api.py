"""The HTTP API at 100,000 memories: how long get, list, search and facets take for one client, and what 200 readers and
8 writers at once do to a server in a minute. Each latency stands beside the same call on the library in this run.

    python benchmarks/http_api.py [--memories 100000] [--seconds 60] [--folder DIR]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote

import recollect
from recollect.core.drafts import Draft
from recollect.core.query import Filter
from recollect.interfaces.http.access import AccessFile

READERS, WRITERS = 200, 8
KINDS = ("fact", "gotcha", "decision", "preference", "error_pattern", "pattern")
NOUNS = "database cache queue router parser schema token session worker index test build deploy config client".split()
VERBS = "resets retries drops caches locks parses renames logs signs rejects batches streams merges splits".split()


def fill(path: Path, count: int) -> None:
    """A store of so many memories, different enough to be kept apart."""
    chance = random.Random(7)
    with recollect.open(path, project="bench") as memory:
        have = memory.count()
        for start in range(have, count, 1_000):
            drafts = [_draft(number, chance) for number in range(start, min(start + 1_000, count))]
            memory.remember_all(drafts)


def _draft(number: int, chance: random.Random) -> Draft:
    noun, verb, other = chance.choice(NOUNS), chance.choice(VERBS), chance.choice(NOUNS)
    text = f"The {noun} {number} {verb} the {other} of service {number % 997} when shard {number * 31 % 9973} is full."
    return Draft(
        text,
        kind=chance.choice(KINDS),
        tags=(noun, f"team-{number % 40}"),
        files=(f"src/{noun}/{verb}_{number % 500}.py",),
        confidence=round(chance.uniform(0.3, 0.95), 2),
        skip_conflict_check=True,
    )


class Server:
    """`recollect serve` in a process of its own."""

    def __init__(self, store: Path, environment: dict[str, str]) -> None:
        words = [
            sys.executable,
            "-m",
            "recollect",
            "serve",
            "--port",
            "0",
            "--json",
            "--no-tend",
            "--store",
            str(store),
        ]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, env=environment, text=True)
        assert self.process.stdout is not None
        self.url = json.loads(self.process.stdout.readline())["url"]
        self.port = int(self.url.rstrip("/").rpartition(":")[2])

    def resident(self) -> float:
        """Megabytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024

    def cpu(self) -> float:
        """Seconds of processor time so far: unlike a clock it does not tell how busy the machine is."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)


def timed(call: Callable[[], object], n: int) -> list[float]:
    taken = []
    for _ in range(n):
        began = time.perf_counter()
        call()
        taken.append((time.perf_counter() - began) * 1000)
    return taken


def quantile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def measure_one(server: Server, token: str, store: Path, n: int) -> None:
    """One client, one request after the other, beside the same call on the library."""
    connection = HTTPConnection("127.0.0.1", server.port)

    def ask(path: str) -> dict[str, object]:
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        data = answer.read()
        assert answer.status == 200, data[:300]
        told: dict[str, object] = json.loads(data)
        return told

    chance = random.Random(11)
    with recollect.open(store, read_only=True) as memory:
        ids = [one.id for one in memory.list(limit=5_000)]
        tag = Filter(tags="cache", user="*")
        everyone = Filter(user="*")
        rows: list[tuple[str, Callable[[], object], Callable[[], object]]] = [
            ("get", lambda: ask(f"/v1/memories/{chance.choice(ids)}"), lambda: memory.get(chance.choice(ids))),
            ("list 50", lambda: ask("/v1/memories?limit=50"), lambda: memory.list(everyone, limit=50)),
            (
                "list 50, one tag",
                lambda: ask("/v1/memories?limit=50&tag=cache"),
                lambda: memory.list(tag, limit=50),
            ),
            (
                "list 50, kind and status",
                lambda: ask("/v1/memories?limit=50&kind=gotcha&status=active"),
                lambda: memory.list(Filter(kinds="gotcha", statuses="active", user="*"), limit=50),
            ),
            (
                "list 50 by confidence",
                lambda: ask("/v1/memories?limit=50&order=confidence"),
                lambda: memory.list(everyone, limit=50, order="confidence"),
            ),
            (
                "list 50, last used first",
                lambda: ask("/v1/memories?limit=50&order=accessed"),
                lambda: memory.list(everyone, limit=50, order="accessed"),
            ),
            (
                "list 50, skip 50,000",
                lambda: ask("/v1/memories?limit=50&skip=50000"),
                lambda: memory.list(everyone, limit=50, skip=50_000),
            ),
            (
                "search",
                lambda: ask(f"/v1/memories/search?q={quote(_question(chance))}&limit=20"),
                lambda: memory.recall(_question(chance), k=20, track=False, filter=everyone),
            ),
            (
                "facets of a filter not asked before",
                lambda: ask(f"/v1/memories/facets?min_confidence={chance.uniform(0, 0.3):.9f}"),
                lambda: memory.overview.facets(Filter(user="*", min_confidence=chance.uniform(0, 0.3))),
            ),
            ("facets", lambda: ask("/v1/memories/facets"), lambda: memory.overview.facets(everyone)),
            ("facets, one tag", lambda: ask("/v1/memories/facets?tag=cache"), lambda: memory.overview.facets(tag)),
            ("health", lambda: ask("/v1/health"), memory.overview.health),
            ("activity", lambda: ask("/v1/activity"), memory.overview.activity),
        ]
        print("| request | n | p50 ms | p95 ms | server CPU ms | library p95 ms |\n|---|---|---|---|---|---|")
        for name, request, call in rows:
            times = n if name in ("get", "list 50") else max(20, n // 10)
            timed(request, 3)
            began = server.cpu()
            over = timed(request, times)
            cpu = (server.cpu() - began) / times * 1000
            connection.close()  # the server keeps no connection that idles while the library is timed
            timed(call, 3)
            under = timed(call, times)
            p95, base = quantile(over, 0.95), quantile(under, 0.95)
            print(
                f"| {name} | {times} | {quantile(over, 0.5):.1f} | {p95:.1f} | {cpu:.1f} | {base:.1f} |",
                flush=True,
            )


def _question(chance: random.Random) -> str:
    return f"{chance.choice(NOUNS)} {chance.choice(VERBS)} service {chance.randrange(997)}"


async def storm(server: Server, token: str, ids: Sequence[str], seconds: float) -> None:
    """200 readers and 8 writers, each as fast as it is answered."""
    ends = time.monotonic() + seconds
    statuses: Counter[str] = Counter()
    taken: dict[str, list[float]] = {"read": [], "write": []}
    resident: list[float] = []

    async def talk(kind: str, number: int) -> None:
        chance = random.Random(time.time_ns() + number)  # what was written in an earlier run is not new
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        try:
            while time.monotonic() < ends:
                began = time.perf_counter()
                writer.write(_request(kind, number, chance, token, server.port, ids))
                status = await _read_answer(reader)
                taken[kind].append((time.perf_counter() - began) * 1000)
                statuses[f"{kind} {status}"] += 1
        except (ConnectionError, asyncio.IncompleteReadError) as error:
            statuses[f"{kind} {type(error).__name__}"] += 1
        finally:
            writer.close()

    async def watch() -> None:
        while time.monotonic() < ends:
            resident.append(server.resident())
            await asyncio.sleep(1)

    people = [talk("read", number) for number in range(READERS)] + [talk("write", number) for number in range(WRITERS)]
    await asyncio.gather(watch(), *people)
    print(f"\n{READERS} readers, {WRITERS} writers, {seconds:.0f} s: {dict(statuses)}")
    for kind, values in taken.items():
        p50, p95, p99 = (quantile(values, share) for share in (0.5, 0.95, 0.99))
        told = f"p50 {p50:.0f} ms, p95 {p95:.0f} ms, p99 {p99:.0f} ms, longest {max(values):.0f} ms"
        print(f"{kind}: {len(values) / seconds:.0f}/s, {told}")
    third = max(1, len(resident) // 3)
    print(
        f"resident: {resident[0]:.0f} MB at first, {statistics.mean(resident[third : 2 * third]):.0f} MB in the middle"
        f" third, {statistics.mean(resident[-third:]):.0f} MB in the last, {max(resident):.0f} MB at most"
    )
    wrong = {name: count for name, count in statuses.items() if not name.endswith((" 200", " 201"))}
    print(f"errors: {sum(wrong.values())} {wrong or ''}")


def _request(kind: str, number: int, chance: random.Random, token: str, port: int, ids: Sequence[str]) -> bytes:
    common = f"Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
    if kind == "write":
        body = json.dumps({"content": f"Writer {number} says {chance.random():.12f} of {chance.randrange(10**9)}."})
        media = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        return f"POST /v1/memories HTTP/1.1\r\n{common}{media}{body}".encode()
    path = f"/v1/memories/{chance.choice(ids)}" if chance.random() < 0.8 else "/v1/memories?limit=20"
    return f"GET {path} HTTP/1.1\r\n{common}\r\n".encode()


async def _read_answer(reader: asyncio.StreamReader) -> int:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
    )
    await reader.readexactly(length)
    return int(head.split(b" ", 2)[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--n", type=int, default=500)
    parser.add_argument("--folder", type=Path)
    args = parser.parse_args()
    folder = args.folder or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    os.environ |= {"XDG_STATE_HOME": str(folder / "state"), "XDG_DATA_HOME": str(folder / "data")}
    os.environ |= {"XDG_CONFIG_HOME": str(folder / "settings"), "RECOLLECT_EMBEDDER": "none"}
    store = folder / "memory.db"
    began = time.monotonic()
    fill(store, args.memories)
    print(
        f"{args.memories:,} memories, {store.stat().st_size / 10**6:.0f} MB, made in {time.monotonic() - began:.0f} s"
    )
    access = AccessFile()
    token = access.make_token(f"bench {time.time_ns()}", scope="admin", is_persons=True)
    server = Server(store, dict(os.environ))
    try:
        measure_one(server, token, store, args.n)
        with recollect.open(store, read_only=True) as memory:
            ids = [one.id for one in memory.list(limit=5_000)]
        asyncio.run(storm(server, token, ids, args.seconds))
    finally:
        server.stop()


if __name__ == "__main__":
    main()
