"""Failovers in a row: a primary and a synchronous standby on loopback, two servers, clients that write all the time.

Each round kills the primary (SIGKILL to the whole server), promotes the standby, kills one of our servers and starts
it again, and makes a new standby by pg_basebackup. Counts what was acknowledged and is not there, what is there twice,
and how long nobody could write.

    python benchmarks/failover.py --rounds 50 --clients 4
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import recollect
from postgres_cluster import (  # type: ignore[import-not-found]
    Clients,
    Cluster,
    Server,
    running_cluster,
    wait_until,
)


def run_round(cluster: Cluster, clients: Clients, servers: list[Server], number: int) -> float:
    """One failover; how many seconds passed until the next write was acknowledged."""
    before = len(clients.acknowledged)
    began = time.monotonic()
    cluster.fail_over()
    wait_until(lambda: len(clients.acknowledged) > before + 3, "writes after a failover")
    gap = time.monotonic() - began
    servers[number % 2].kill()
    servers[number % 2].start()
    cluster.add_standby()
    servers[number % 2].wait()
    after = len(clients.acknowledged)
    wait_until(lambda: len(clients.acknowledged) > after + 10, "writes with a standby again")
    return gap


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--fsync", action="store_true", help="sync to disk as a real deployment does")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place, running_cluster(Path(place) / "pg", fsync=args.fsync) as cluster:
        dsn = cluster.dsn("team")
        with recollect.open(dsn, project="test", actor="keeper") as memory:
            joined = memory.team.init("red", admin="ann")
        assert joined is not None
        servers = [Server(dsn, Path(place)) for _ in range(2)]
        for server in servers:
            server.start()
        for server in servers:
            server.wait()
        clients = Clients(servers, joined.token)
        clients.start(args.clients)
        gaps = []
        try:
            wait_until(lambda: len(clients.acknowledged) > 20, "the first writes")
            for number in range(args.rounds):
                gaps.append(run_round(cluster, clients, servers, number))
                print(f"round {number + 1}: {gaps[-1]:.1f} s, {len(clients.acknowledged)} acknowledged", flush=True)
        finally:
            clients.stop()
            for server in servers:
                server.kill()
        with recollect.open(dsn, project="test") as memory:
            held = Counter(row[0] for row in memory.store.engine.rows("select content from memories"))
            sound = memory.maintenance.check().ok
    lost = clients.acknowledged - held.keys()
    doubled = [text for text, times in held.items() if times > 1]
    ranked = sorted(gaps)
    print(
        f"{args.rounds} failovers: {len(clients.acknowledged)} acknowledged, {len(lost)} lost, {len(doubled)} doubled, "
        f"{clients.refused} sent again, trouble {clients.trouble[:3]}, check {'sound' if sound else 'DAMAGED'}; "
        f"no write for p50 {ranked[len(ranked) // 2]:.1f} s, most {ranked[-1]:.1f} s"
    )
    sys.exit(bool(lost or doubled or clients.trouble or not sound))


if __name__ == "__main__":
    main()
