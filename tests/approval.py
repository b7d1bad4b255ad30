"""Whole answers compared with approved ones: `RECOLLECT_APPROVE=1 pytest tests/test_approved.py` accepts what changed.

What differs between two runs of the same code (ids, fences' marks, paths) is named by its order of appearance.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent / "approved"
_DRAWN = re.compile(
    r"\b[a-z]{2,12}_[0-9a-hjkmnp-tv-z]{23}\b|(?<=<recollect-memory )[0-9a-f]+|(?<=</recollect-memory )[0-9a-f]+"
)


def approve(name: str, value: Any, *, root: Path | None = None) -> None:
    """Fail unless `value` is what was approved under this name."""
    text = json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True, default=str) + "\n"
    if root is not None:
        text = text.replace(str(root), "ROOT")
    met: dict[str, str] = {}
    text = _DRAWN.sub(lambda found: met.setdefault(found[0], f"#{len(met) + 1}"), text)
    text = re.sub(r"datetime\.datetime\([^()]*\)", "TIME", text)
    path = _FOLDER / f"{name}.json"
    if os.environ.get("RECOLLECT_APPROVE"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), "if it is meant so: RECOLLECT_APPROVE=1"
