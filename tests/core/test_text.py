from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.errors import InvalidText
from recollect.core.text import (
    clean,
    excerpt,
    fingerprint,
    humps,
    index_body,
    index_names,
    names,
    normal_form,
    printable,
    require_storable,
    whole,
)


def test_spelling_details_do_not_change_the_fingerprint() -> None:
    assert fingerprint("Use  TABS, not spaces.") == fingerprint("use tabs, not spaces")
    assert fingerprint("ｆｕｌｌ width") == fingerprint("full width")


def test_other_words_change_the_fingerprint() -> None:
    assert fingerprint("use tabs") != fingerprint("use spaces")


@given(st.text())
def test_normal_form_settles(text: str) -> None:
    twice = normal_form(normal_form(text))
    assert normal_form(twice) == twice


@pytest.mark.parametrize("name", ["verify_jwt", "verifyJwt", "VerifyJWT", "verify-jwt", "verify.jwt"])
def test_all_spellings_of_a_name_share_one_token(name: str) -> None:
    assert whole(name) == "verifyjwt"


def test_a_name_is_indexed_whole_and_in_parts() -> None:
    tokens = index_names("call parseHTTPResponse_v2 in src/net/http.py").split()
    assert {"parsehttpresponsev2", "parse", "http", "response", "srcnethttppy", "net", "httppy"} <= set(tokens)


def test_humps_split_acronyms_where_people_would() -> None:
    assert humps("parseHTTPResponse_v2") == ["parse", "http", "response", "v", "2"]


def test_plain_words_are_not_names() -> None:
    assert names("an ordinary sentence, with commas.") == []


def test_scripts_without_spaces_are_indexed_by_pairs() -> None:
    assert index_body("東京都 go").split() == ["東京", "京都", "都", "go"]


def test_labels_are_indexed_as_words() -> None:
    assert "urgent" in index_names("text", '["urgent"]')


def test_control_and_invisible_characters_are_removed_and_counted() -> None:
    assert clean("a\x1b[31mb\u202ec\u200bd\x07") == ("a[31mbcd", 4)


def test_line_ends_and_tabs_survive_cleaning() -> None:
    assert clean("a\r\nb\tc\rd") == ("a\nb\tc\nd", 0)


def test_a_family_emoji_survives_cleaning() -> None:
    assert clean("👩‍👩‍👧") == ("👩‍👩‍👧", 0)


@given(st.text())
def test_nothing_printable_can_move_the_cursor(text: str) -> None:
    shown = printable(text)
    assert not any((ord(letter) < 32 and letter not in "\n\t") or 127 <= ord(letter) < 160 for letter in shown)


@pytest.mark.parametrize("text", ["a\0b", "\udc80"])
def test_text_that_cannot_be_stored_faithfully_is_refused(text: str) -> None:
    with pytest.raises(InvalidText, match="content"):
        require_storable(text, "content")


def test_an_excerpt_ends_at_a_word_and_says_so() -> None:
    assert excerpt("one two three four five", 14) == "one two three…"
    assert excerpt("short", 14) == "short"
