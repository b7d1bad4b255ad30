"""What a caller of an adapter leaves out means what was approved; adapters need packages of their own."""

from __future__ import annotations

import pkgutil

from approval import approve
from recollect import adapters
from surface import defaults_in


def test_what_a_caller_of_an_adapter_leaves_out_means_what_was_approved() -> None:
    found = defaults_in(module.name for module in pkgutil.iter_modules(adapters.__path__, "recollect.adapters."))
    assert sum(map(len, found.values())) > 20
    approve("surface-defaults-adapters", found)
