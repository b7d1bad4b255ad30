"""Every session of these tests is told everything: which arm an unnamed one draws is chance."""

from __future__ import annotations

import pytest

from recollect.agent.injection import ARM_META, FULL
from recollect.app import Recollect


@pytest.fixture(autouse=True)
def told_everything(memory: Recollect) -> None:
    with memory.store.engine.write():
        memory.store.set_meta(ARM_META, FULL)
