"""Many memories are erased in steps: out of sight at once, and whoever comes after a kill goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

import recollect
from recollect import Draft, Filter, Recollect
from recollect.config import Settings
from recollect.core.scope import Status
from recollect.remember import erase as erasing
from recollect.store.check import check
from recollect.store.memories import Memories
from recollect.tend.erase import is_erasure_pending

QUIET = Settings(embedder="none")
EVERY = Filter(statuses=frozenset(Status), user="*")


class Killed(BaseException):
    """Stands for a kill between two transactions."""


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recollect:
    monkeypatch.setattr(erasing, "AT_ONCE", 5)
    memory = recollect.open(tmp_path / "memory.db", project="p", settings=QUIET)
    first = memory.remember("The harbour is closed in winter.").id
    memory.remember_all(
        [Draft(f"Anna Berg paints boat {n} of the fleet.", tags=("boats",), session=f"day {n}") for n in range(23)]
    )
    boats = memory.list(Filter(tags="boats"), limit=99).memories
    memory.relate(first, "validates", to=boats[0].id)
    return memory


def kill_before_step(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """Die when so many steps that remove hidden memories have begun."""
    begun, hidden = [0], Memories.hidden

    def counted(self: Memories, limit: int) -> list[object]:
        begun[0] += limit > 1
        if begun[0] == step:
            raise Killed
        return hidden(self, limit)  # type: ignore[return-value]

    monkeypatch.setattr(Memories, "hidden", counted)


@pytest.mark.parametrize("step", [1, 2, 4, 6])
@pytest.mark.parametrize("scope", [{"subject": "Anna Berg"}, {"filter": Filter(tags="boats")}, {"project": True}])
def test_after_a_kill_nobody_sees_any_of_them_and_resuming_does_the_rest(
    memory: Recollect, monkeypatch: pytest.MonkeyPatch, step: int, scope: dict[str, object]
) -> None:
    kept = 0 if "project" in scope else 1
    with monkeypatch.context() as patched:
        kill_before_step(patched, step)
        with pytest.raises(Killed):
            memory.erase(**scope)  # type: ignore[arg-type]
    seen = [
        memory.list(EVERY, limit=99), memory.history(limit=999), memory.recall("Anna Berg boat fleet"),
        [memory.get(one.id) for one in memory.list(EVERY)], [memory.why(one.id) for one in memory.list(EVERY)],
    ]  # fmt: skip
    assert "Anna" not in repr(seen)
    assert memory.count(EVERY) in (kept, 1)
    assert [one.area for one in check(memory.store).findings] == (["erasure"] if step < 6 else [])
    assert is_erasure_pending(memory.store)
    done = memory.erase()
    assert done.is_complete, done.remaining
    assert check(memory.store).ok, check(memory.store).findings
    assert memory.count(EVERY) == kept
    assert b"Anna Berg" not in (Path(memory.store.engine.location)).read_bytes()
    memory.close()


def test_what_others_write_between_the_steps_stays(memory: Recollect, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        kill_before_step(patched, 2)
        with pytest.raises(Killed):
            memory.erase(filter=Filter(tags="boats"))
    later = memory.remember("The crane was painted blue by the crew.").id
    memory.erase()
    assert {one.id for one in memory.list(EVERY)} >= {later}
    assert memory.count(EVERY) == 2
    memory.close()
