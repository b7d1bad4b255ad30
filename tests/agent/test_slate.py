"""What a session did so far, kept between hook processes: small, quick, and never wrong without saying so."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from recollect.agent import slate as slates
from recollect.agent.slate import Slate


@pytest.fixture
def path(tmp_path: Path) -> str:
    made = str(tmp_path / "s.slate")
    Slate(made).begin()
    return made


def test_what_one_process_notes_the_next_one_finds(path: str) -> None:
    with Slate(path) as one:
        one.put("read", "src/db.py", 3)
        one.put("read", "src/db.py", 7)
        one.put("edited", "src/db.py", 0)
        one.heard()
    with Slate(path) as other:
        assert (other.get("read", "src/db.py"), other.get("edited", "src/db.py")) == (7, 0)
        assert other.get("seen", "src/db.py") == -1
        assert other.events == 1


def test_ten_thousand_paths_are_all_found_and_the_file_stays_small(path: str) -> None:
    with Slate(path) as slate:
        for number in range(10_000):
            slate.put("seen", f"src/part{number}.py", number)
        assert all(slate.get("seen", f"src/part{number}.py") == number for number in range(10_000))
        assert slate.get("seen", "src/part10000.py") == -1
    assert Path(path).stat().st_size < 200_000


def test_a_full_slate_notes_nothing_new_and_still_renews_what_it_has(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slates, "_FULL", 2)
    with Slate(path) as slate:
        for name in ("a", "b", "c"):
            slate.put("ran", name, 1)
        slate.put("ran", "a", 5)
        assert [slate.get("ran", name) for name in ("a", "b", "c")] == [5, 1, -1]


def test_what_is_no_slate_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"something else altogether")
    (tmp_path / "y").write_bytes(b"RCL")
    for name in ("x", "y", "absent"):
        with pytest.raises(OSError, match=r"slate|No such file"), Slate(str(tmp_path / name)):
            pass


def test_hooks_at_once_lose_no_event(path: str) -> None:
    def note(number: int) -> None:
        with Slate(path) as slate:
            slate.put("count", "calls", max(0, slate.get("count", "calls")) + 1)
            slate.put("seen", f"p{number}", 0)
            slate.heard()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(note, range(40)))
    with Slate(path) as slate:
        assert (slate.events, slate.get("count", "calls")) == (40, 40)
        assert all(slate.get("seen", f"p{number}") == 0 for number in range(40))
