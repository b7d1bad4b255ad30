"""Rows read from the pages of a file without SQLite: every value, every page, whatever of the file is destroyed."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from recollect.store.sqlite import leaves

ROWS: list[tuple[object, ...]] = [
    (None, 0, 1, -1, 127, "a"),
    (-129, 32_767, 2**23, -(2**31), 2**47, "é"),
    (2**63 - 1, 1.5, -0.25, b"", b"\x00\xff", ""),
    ("x" * 10_000, b"y" * 9_000, 2.0**70, "z", None, "long values lie in pages of their own"),
    *((f"row {number}", number, number / 4, None, "word " * 20, "plain") for number in range(300)),
]


def made(path: Path, tables: int = 1) -> bytes:
    connection = apsw.Connection(str(path))
    connection.execute(f"pragma page_size = {leaves.PAGE}")
    with connection:
        for number in range(tables):
            wide = ", ".join(f"a_column_with_a_long_name_{column}" for column in "abcdef")
            connection.execute(f"create table kept_{number} ({wide})")
        connection.executemany("insert into kept_0 values (?, ?, ?, ?, ?, ?)", ROWS)
    connection.close()
    return path.read_bytes()


def read(file: bytes, columns: int) -> list[tuple[object, ...]]:
    return sorted(leaves.records(file, columns), key=repr)


def test_every_row_is_read_whatever_its_values_are(tmp_path: Path) -> None:
    assert read(made(tmp_path / "a.db"), 6) == sorted(ROWS, key=repr)


def test_the_rows_are_read_even_when_the_pages_that_lead_to_them_are_destroyed(tmp_path: Path) -> None:
    file = bytearray(made(tmp_path / "a.db"))
    interior = [start for start in range(leaves.PAGE, len(file), leaves.PAGE) if file[start] == 5]
    assert interior, "the table has grown beyond one page"
    for start in (0, *interior):
        file[start : start + leaves.PAGE] = b"\xff" * leaves.PAGE
    assert read(bytes(file), 6) == sorted(ROWS, key=repr)


@pytest.mark.parametrize("tables", [1, 60])
def test_the_list_of_tables_is_found_on_the_first_page_and_below_it(tmp_path: Path, tables: int) -> None:
    file = made(tmp_path / "a.db", tables)
    pages = leaves.schema_pages(file)
    assert (len(pages) > 1) is (tables > 1)
    names = {leaves._record(leaves._payload(file, cell))[1] for number in pages for cell in leaves._cells(file, number)}
    assert names == {f"kept_{number}" for number in range(tables)}


def test_a_file_of_noise_holds_no_rows() -> None:
    noise = bytes(range(256)) * 16 * 4
    assert read(noise, 6) == []
