"""The reference tells every command, option, setting, error, tool and signature as it is."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import reference


@pytest.mark.parametrize(
    ("page", "make"),
    [
        ("cli.md", reference.cli),
        ("settings.md", reference.settings),
        ("errors.md", reference.error_page),
        ("http.md", reference.http),
        ("mcp.md", reference.mcp),
        ("openapi.json", reference.openapi_json),
        ("../../panel/src/api.ts", reference.typescript),
        ("python.md", reference.python),
    ],
)
def test_the_reference_is_up_to_date(page: str, make: Callable[[], str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert make() == (reference.FOLDER / page).read_text(encoding="utf-8"), "run `make docs`"
