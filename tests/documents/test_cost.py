"""What a document costs to parse, counted before it is parsed: lines, and the cells that tables make of them."""

from __future__ import annotations

import pytest

from recollect.documents.parse import _CELLS_A_LINE, parsing_cost, shorten

HEAD = f"{'|a' * _CELLS_A_LINE}|\n{'|-' * _CELLS_A_LINE}|\n"  # a table with as many cells in a row as cost one line


@pytest.mark.parametrize(
    ("text", "cost"),
    [
        ("", 0),
        ("one\ntwo\n", 2),
        ("|" * (_CELLS_A_LINE - 1), 0),
        ("|" * _CELLS_A_LINE, 1),
        ("a|" * (3 * _CELLS_A_LINE) + "\n", 4),
    ],
)
def test_a_line_costs_one_and_many_bars_cost_as_lines(text: str, cost: int) -> None:
    assert parsing_cost(text) == cost


def test_every_row_of_a_wide_table_costs_what_its_head_has_however_few_it_writes() -> None:
    rows = [parsing_cost(HEAD + "x\n" * count) for count in (1, 11, 101)]
    assert rows[1] - rows[0] >= 2 * 10
    assert rows[2] - rows[1] >= 2 * 90
    assert parsing_cost(HEAD + "\n" + "x\n" * 50) < parsing_cost(HEAD + "x\n" * 50), "a table ends with its paragraph"


@pytest.mark.parametrize("most", [1, 10, 100])
def test_a_text_is_shortened_to_whole_lines_that_cost_no_more_than_allowed(most: int) -> None:
    text = HEAD + "x\n" * 200
    kept = shorten(text, most=most, chars=10_000)
    assert text.startswith(kept)
    assert parsing_cost(kept) <= most
    assert shorten("short\n", most=most, chars=100) == "short\n"
    assert shorten("x" * 50, most=most, chars=20) == "x" * 20
