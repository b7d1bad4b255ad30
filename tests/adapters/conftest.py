"""Every session of these tests is told everything: which arm an unnamed one draws is chance."""

from __future__ import annotations

import pytest

from recollect.agent.experiment import FULL, NAME
from recollect.app import Recollect


@pytest.fixture(autouse=True)
def told_everything(memory: Recollect) -> None:
    with memory.store.engine.write():
        memory.store.set_meta(NAME, FULL)
