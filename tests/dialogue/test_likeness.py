"""Running totals: which statement takes the place of which."""

from __future__ import annotations

import pytest

from recollect.dialogue.facts import outdoes


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("User said: I've tried three different ones recently.", "User said: I've tried four different ones so far."),
        ("User said: I've bought three tops from H&M.", "User said: I've already got five tops from H&M so far."),
        ("User said: I've had Luna for 6 months now.", "User said: I've had my cat, Luna, for about 9 months now."),
    ],
)
def test_a_later_count_of_the_same_things_outdoes_the_earlier(old: str, new: str) -> None:
    assert outdoes(new, old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("User said: I've bought three tops from H&M.", "User said: I've already bought five jeans from Zara."),
        ("User said: I bought 3 lamps at the market.", "User said: I bought 5 lamps at the market."),
        ("User said: I've read three novels so far.", "User said: I've read three novels by Eco so far."),
        ("User said: I've fixed the error 401 page.", "User said: I've now reached 95% coverage of the error page."),
    ],
)
def test_other_things_events_and_equal_numbers_outdo_nothing(old: str, new: str) -> None:
    assert not outdoes(new, old)
