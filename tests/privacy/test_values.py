"""Values lose their secrets and nothing else; a name gives its value away; names stay apart."""

from __future__ import annotations

from recollect.privacy.values import redact_name, redact_value, rules_in

TOKEN = "ghp_" + "x7K2m9Q4" * 4 + "Zr81"


def test_a_value_without_secrets_is_the_very_same_object() -> None:
    value = {"a": ["one", {"b": "two"}], "n": 3, "t": ("x", None)}
    assert redact_value(value) is value
    assert rules_in(value) == ()


def test_secrets_go_wherever_they_stand_and_the_rest_stays() -> None:
    safe = redact_value({"list": ["keep", f"use {TOKEN}"], TOKEN: 1, "deep": {"x": (TOKEN,)}, "n": 2})
    assert TOKEN not in str(safe)
    assert safe["list"][0] == "keep"
    assert safe["n"] == 2
    assert rules_in({"x": [TOKEN]}) == ("github-token",)


def test_a_name_gives_its_value_away() -> None:
    safe = redact_value({"password": "swordfish", "user": "joe", "note": "swordfish"})
    assert safe == {"password": "[secret:password]", "user": "joe", "note": "swordfish"}


def test_names_that_hold_secrets_stay_apart() -> None:
    other = "ghp_" + "y7K2m9Q4" * 4 + "Zr81"
    assert redact_name("session 7") == "session 7"
    assert TOKEN not in redact_name(f"s {TOKEN}")
    assert redact_name(f"s {TOKEN}") != redact_name(f"s {other}")
