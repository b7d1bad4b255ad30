from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollect.documents.pages import MAX_CHARS, Chunk, split_passages
from recollect.documents.parse import parse


def cut(text: str, **options: int) -> list[Chunk]:
    return split_passages(parse(text), **options)


def words(text: str, **options: int) -> list[str]:
    return [one.words for one in cut(text, **options)]


SENTENCE = "The quick brown fox jumps over the lazy dog and thinks nothing of it. "


def test_sections_are_passages_and_keep_their_heading_path() -> None:
    text = "# Guide\n\nOpening.\n\n## Install\n\nUse pip.\n\n### Linux\n\nUse apt.\n\n## Run\n\nGo.\n"
    assert [(one.path, one.words.splitlines()[-1]) for one in cut(text)] == [
        (("Guide",), "Opening."),
        (("Guide", "Install"), "Use pip."),
        (("Guide", "Install", "Linux"), "Use apt."),
        (("Guide", "Run"), "Go."),
    ]


def test_setext_headings_begin_sections_too() -> None:
    assert [one.path for one in cut("Guide\n=====\n\nA.\n\nInstall\n-------\n\nB.\n")] == [
        ("Guide",),
        ("Guide", "Install"),
    ]


def test_deeper_headings_stay_inside_their_section() -> None:
    assert len(cut("# A\n\nx\n\n#### B\n\ny\n")) == 1


def test_a_heading_without_words_goes_with_what_follows() -> None:
    assert [one.path for one in cut("# Guide\n\n## Install\n\nUse pip.\n")] == [("Guide", "Install")]
    assert [one.path for one in cut("## A\n\n## B\n\nText.\n")] == [("A",), ("B",)]


def test_headings_in_fences_quotes_and_comments_begin_nothing() -> None:
    text = "# A\n\n```sh\n# not a heading\n```\n\n> # quoted\n\n<!--\n# hidden\n-->\n"
    assert len(cut(text)) == 1


def test_front_matter_survives_and_names_the_document() -> None:
    parsed = parse('---\ntitle: "A Guide"\ntags: [x]\n---\n\n# Other\n\nText.\n')
    assert parsed.title == "A Guide"
    assert split_passages(parsed)[0].text.startswith("---\ntitle")


def test_long_sections_are_cut_between_paragraphs() -> None:
    text = "# A\n\n" + "\n\n".join([SENTENCE * 8] * 4) + "\n"
    pieces = cut(text)
    assert len(pieces) == 4
    assert all(piece.words.endswith("of it.") for piece in pieces)


def test_a_fence_that_fits_is_never_cut() -> None:
    fence = "```python\n" + "value = compute(1)\n\n" * 30 + "```\n"
    text = f"# A\n\n{SENTENCE * 8}\n\n{fence}\n{SENTENCE * 8}\n"
    assert any(fence.strip() in one.text for one in cut(text))


def test_a_fence_that_is_too_long_is_cut_between_lines() -> None:
    fence = "```python\n" + "value = compute(1)\n" * 100 + "```\n"
    pieces = cut(f"# A\n\n{fence}")
    assert len(pieces) > 1
    assert all(piece.text.endswith("\n") for piece in pieces)


def test_a_table_is_cut_between_rows_only() -> None:
    table = "| a | b |\n|---|---|\n" + "| one thing | another thing |\n" * 60
    assert all(one.text.startswith(("|", "# ")) and one.text.endswith("|\n") for one in cut(f"# T\n\n{table}"))


def test_nested_list_items_are_cut_at_items() -> None:
    items = "".join(f"- item {n} says {SENTENCE}\n  - nested {n} says {SENTENCE}\n" for n in range(12))
    assert all(one.text.lstrip().startswith(("- ", "#")) for one in cut(f"# L\n\n{items}"))


def test_one_endless_line_is_cut_at_spaces() -> None:
    pieces = words("word " * 1_000)
    assert all(piece.endswith("word") for piece in pieces)
    assert words("x" * 2_000) == ["x" * 900, "x" * 900, "x" * 200]


def test_lines_and_bytes_are_exact_in_other_scripts_and_line_ends() -> None:
    text = "# Ünï\r\n\r\nerste Zeile\r\n\r\n## 日本\r\n\r\n二行目\r\n"
    data = text.encode()
    one, two = cut(text)
    assert data[one.start : one.end].decode() == one.text
    assert data[two.start : two.end].decode() == two.text
    assert (one.first_line, one.last_line, two.first_line, two.last_line) == (1, 4, 5, 7)


def test_a_byte_order_mark_hides_no_heading() -> None:
    assert cut("\ufeff# Guide\n\nText.\n")[0].path == ("Guide",)


def test_plain_text_is_cut_by_paragraphs_and_has_no_headings() -> None:
    parsed = parse("# not a heading\n\nText.\n" + SENTENCE * 20, markdown=False)
    assert {passage.path for passage in split_passages(parsed)} == {()}


@pytest.mark.parametrize("text", ["", " \n\t\n", "\r\n"])
def test_white_space_has_no_passages(text: str) -> None:
    assert cut(text) == []


_PIECES = st.sampled_from(
    [
        *("# A\n", "## B\n", "### C\n", "Title\n===\n", "sub\n---\n", "para one two three\n", "\n", "\n\n", "- item\n"),
        *("  - in\n", "1. one\n", "```\n", "~~~\n", "    code\n", "> quote\n", "| a | b |\n", "|---|---|\n", "<div>\n"),
        *("</div>\n", "[x]: y.md\n", "\t", "é", "日本語", "\r\n", "\r", "\u2028", "\x0b", "x" * 70, "word " * 30),
        *("---\n", "***\n", "\0", "<!--\n", "-->\n", "\ufeff"),
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(_PIECES, max_size=40).map("".join), st.integers(20, 200))
@example("\r\n\r\n# A\n\nx" + "y" * 300, 20)
@example("---\na: b\n---\n# A\n", 20)
def test_spans_put_together_are_the_document_and_none_is_too_long(text: str, longest: int) -> None:
    pieces = cut(text, longest=longest)
    if not text.strip():
        assert pieces == []
        return
    assert "".join(piece.text for piece in pieces) == text
    data = text.encode()
    assert [data[piece.start : piece.end] for piece in pieces] == [piece.text.encode() for piece in pieces]
    assert pieces[0].start == 0
    assert pieces[-1].end == len(data)
    assert all(0 < len(piece.words) <= longest for piece in pieces)
    assert all(1 <= piece.first_line <= piece.last_line for piece in pieces)
    assert MAX_CHARS == 900
