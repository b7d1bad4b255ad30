"""Damage is noticed or does not matter; nothing wrong is ever told. Salvage keeps the file and carries rows over."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

import recollect
from faults.fault_tools import EVERYTHING, base_seed, described, differing, report, size, words
from recollect import Draft, Memory, RecollectError
from recollect.core.errors import NotFound
from recollect.core.kinds import Kinds
from recollect.core.text import fingerprint
from recollect.files.mark import MOVED, NO_KEY, NOT_MARKED, foreign_notice
from recollect.store.check import check
from recollect.store.sqlite.repair import salvage

_SHARDS = 2
_PAGE = 4096
_SIZES = (1, 512, 4096)
_MEMORIES = 40
_COPIED = {foreign_notice(doubt) for doubt in (MOVED, NOT_MARKED, NO_KEY)}  # said of every copy, whole or not
_ASKED = 4  # questions whose answers are compared


@dataclass(frozen=True)
class Told:
    """All that a reader learns from a store: its project, rows, history, and answers."""

    project: str
    rows: dict[str, Memory]
    history: tuple[object, ...]
    answers: tuple[tuple[str, ...], ...]
    tombstoned: tuple[bool, ...]


@dataclass(frozen=True)
class Sample:
    content: bytes
    told: Told
    questions: tuple[str, ...]
    gone: tuple[str, ...]


def _sample(folder: Path, seed: int) -> Sample:
    """A store that was used for a while and then closed."""
    rng = random.Random(seed)
    path = folder / "memory.db"
    with recollect.open(path) as memory:
        texts = [words(rng, 8) for _ in range(_MEMORIES)]
        ids = [receipt.id for receipt in memory.remember_all([Draft(text, tags=["kept"]) for text in texts])]
        for id in ids[:10]:
            memory.edit(id, content=words(rng, 8), files=[f"src/{id}.py"])
        for id in ids[10:15]:
            memory.reject(id)
        for id in ids[15:18]:
            memory.forget(id)
        memory.relate(ids[20], "validates", to=ids[21])
        questions = tuple(text.split()[0] for text in texts[30 : 30 + _ASKED])
        gone = (texts[10], texts[15])
        memory.recall(questions[0])  # so that some rows were moved by use
        told = _told(path, questions, gone)
    return Sample(path.read_bytes(), told, questions, gone)


def _told(path: Path, questions: tuple[str, ...], gone: tuple[str, ...]) -> Told:
    """Read everything. An error is one of ours, or it is a defect."""
    with recollect.open(path) as memory:
        page = memory.list(EVERYTHING, order="oldest", limit=10_000)
        if page.damaged:
            raise Noticed(f"damaged: {page.damaged}")
        answers = []
        for question in questions:
            briefing = memory.recall(question, track=False)
            if told := set(briefing.notes) - _COPIED:
                raise Noticed(f"notes: {told}")
            answers.append(tuple(hit.id for hit in briefing))
        rows = {memory.id: memory for memory in page.memories} | {
            one.id: memory.get(one.id) for one in page.memories[::8]
        }
        history = tuple((e.number, e.act, e.change) for e in memory.history(limit=10_000))
        tombstones = memory.store.tombstones.find([fingerprint(text) for text in gone])
        stay_gone = tuple(fingerprint(text) in tombstones for text in gone)
        return Told(memory.project, rows, history, tuple(answers), stay_gone)


class Noticed(Exception):
    """The damage was named in an answer."""


def _damage(sample: bytes, number: int, rng: random.Random) -> tuple[bytes, int, int]:
    """The file with some random bytes in it; where they are. Every other case aims at bytes that are in use."""
    length = _SIZES[number % len(_SIZES)]
    at = rng.randrange(len(sample))
    while number % 2 and sample[at] == 0:
        at = rng.randrange(len(sample))
    at = min(at, len(sample) - length)
    noise = rng.randbytes(length)
    if length == 1:
        noise = bytes([sample[at] ^ (rng.randrange(255) + 1)])
    return sample[:at] + noise + sample[at + length :], at, length


def _fate(path: Path, damaged: bytes, sample: Sample) -> str:
    """How the damage showed: when opening or reading, in `check`, or not at all because nothing changed."""
    for suffix in ("-shm", "-wal"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    path.write_bytes(damaged)
    noticed, told = "", None
    try:
        told = _told(path, sample.questions, sample.gone)
    except NotFound:
        pass  # a wrong answer, not a notice: `check` has to find it
    except (RecollectError, Noticed) as error:
        noticed = f"reading: {type(error).__name__}"
    try:
        with recollect.open(path) as memory:
            if not check(memory.store).ok:
                noticed = noticed or "check"
    except RecollectError as error:
        noticed = noticed or f"opening: {type(error).__name__}"
    if noticed:
        return noticed
    assert told is not None, "silently without a memory that is there"
    assert told.project == sample.told.project, "silently another project"
    assert told.rows == sample.told.rows, f"silently other rows: {described(differing(sample.told.rows, told.rows))}"
    assert told.history == sample.told.history, "silently another history"
    assert told.answers == sample.told.answers, "silently other answers"
    assert told.tombstoned == sample.told.tombstoned, "silently another set of tombstones"
    return "unaffected"


@pytest.mark.parametrize("shard", range(_SHARDS))
def test_damage_to_the_file_is_noticed_or_changes_nothing(quick_path: Path, shard: int) -> None:
    cases = size(2_000, 20_000) // _SHARDS
    seed = base_seed() + shard * 1_000_000
    sample = _sample(quick_path / "whole", seed)
    fates: Counter[str] = Counter()
    silent: list[str] = []
    for number in range(cases):
        damaged, at, length = _damage(sample.content, number, random.Random(seed + number))
        try:
            fates[_fate(quick_path / "memory.db", damaged, sample)] += 1
        except Exception as error:
            fates["SILENT" if isinstance(error, AssertionError) else f"LEAKED {type(error).__name__}"] += 1
            silent.append(f"case {number} of seed {seed}, {length} bytes at {at}: {type(error).__name__}: {error}")
    report(f"damaged files: {cases}, fates: {dict(fates.most_common())}, seed: {seed}")
    assert not silent, f"{len(silent)} of {cases}, such as\n" + "\n".join(silent[:8])


def test_damage_to_the_name_of_the_project_does_not_make_its_memories_vanish_unnoticed(quick_path: Path) -> None:
    sample = _sample(quick_path / "whole", base_seed())
    stored = f"project{sample.told.project}".encode()
    at = sample.content.index(stored) + len("project")
    fates: Counter[str] = Counter()
    for place in range(at, at + len(sample.told.project)):
        altered = bytes([sample.content[place] ^ 1])
        damaged = sample.content[:place] + altered + sample.content[place + 1 :]
        fates[_fate(quick_path / "memory.db", damaged, sample)] += 1
    report(f"damaged project names: {fates.total()}, fates: {dict(fates)}")
    assert fates.total() == len(sample.told.project)
    assert "unaffected" not in fates


def test_a_sound_store_is_not_called_damaged_by_a_process_that_searched_it_before_others_wrote(
    quick_path: Path,
) -> None:
    rng = random.Random(base_seed())
    path = quick_path / "memory.db"
    with recollect.open(path) as watcher, recollect.open(path) as writer:
        for _ in range(20):
            texts = [words(rng) for _ in range(10)]
            ids = [receipt.id for receipt in writer.remember_all([Draft(text) for text in texts])]
            watcher.recall(texts[0], track=False)
            for id in ids[:5]:
                writer.edit(id, content=words(rng))
            writer.forget(ids[-1])
            assert check(watcher.store).findings == []
            assert check(writer.store).findings == []


# --- salvage ----------------------------------------------------------------------------------------------------------


def test_salvage_keeps_the_damaged_file_as_it_was_and_carries_over_every_row_the_damage_spared(
    quick_path: Path,
) -> None:
    cases, seed = size(150, 2_000), base_seed()
    sample = _sample(quick_path / "whole", seed)
    spared = carried = wrong = 0
    poor: Counter[str] = Counter()
    trouble: list[str] = []
    for number in range(cases):
        damaged, at, length = _damage(sample.content, number, random.Random(seed + number))
        folder = quick_path / f"case{number}"
        folder.mkdir()
        path = folder / "memory.db"
        path.write_bytes(damaged)
        case = f"case {number} of seed {seed}, {length} bytes at {at}"
        try:
            done = salvage(path, Kinds())
            rows = _all_rows(path)
        except Exception as error:
            trouble.append(f"{case}: {type(error).__name__}: {error}")
            continue
        assert done.quarantined is not None
        if done.quarantined.read_bytes() != damaged:
            trouble.append(f"{case}: the quarantined copy is not the damaged file")
        safe = _rows_outside(sample, range(at // _PAGE, (at + length - 1) // _PAGE + 1))
        kept = {id for id in safe if rows.get(id) == sample.told.rows[id]}
        spared += len(safe)
        carried += len(kept)
        wrong += sum(row != sample.told.rows.get(id) for id, row in rows.items())
        if len(kept) < len(safe):
            poor[f"page {at // _PAGE + 1}: {len(kept)} of {len(safe)}"] += 1
        shutil.rmtree(folder)
    report(
        f"salvages: {cases}, rows on undamaged pages carried over: {carried} of {spared} ({carried / spared:.2%}), "
        f"wrong rows: {wrong}, short of all: {dict(poor)}, errors: {len(trouble)}, seed: {seed}"
    )
    assert not trouble, f"{len(trouble)} of {cases}, such as\n" + "\n".join(trouble[:5])
    assert wrong == 0
    assert carried >= 0.99 * spared


def _all_rows(path: Path) -> dict[str, Memory]:
    """Every row of a store, whichever project it is filed under."""
    with recollect.open(path) as memory:
        return {one.id: one for page in memory.store.memories.every() for one in page.memories}


def _rows_outside(sample: Sample, touched: range) -> list[str]:
    """The rows of a store that lie on none of some pages of its file."""
    damaged = b"".join(sample.content[page * _PAGE : (page + 1) * _PAGE] for page in touched)
    return [
        id
        for id, row in sample.told.rows.items()
        if f"{id}{row.project}{row.kind}{row.content}".encode() not in damaged
    ]


def test_salvage_puts_tombstones_back_that_only_the_log_knows_of(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with recollect.open(path, project="p", actor="t") as memory:
        memory.forget(memory.remember("The porch key is under the pot.").id)
        with memory.store.engine.write():
            memory.store.engine.execute("delete from tombstones")
    assert salvage(path, Kinds()).tombstones == 1
    with recollect.open(path, project="p") as memory:
        assert memory.store.tombstones.find([fingerprint("The porch key is under the pot.")])
