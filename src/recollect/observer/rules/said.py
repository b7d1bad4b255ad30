"""The rule about what people say: their standing rules and corrections are kept in their own words.

One saying is enough. Nothing is concluded from it: not what it was about, and not in which order commands were run.
"""

from __future__ import annotations

from collections.abc import Iterator

from recollect.core.kinds import Kind
from recollect.core.observed import Contribution, SignalSeen
from recollect.observer.history import History
from recollect.observer.hunch import Evidence, Hunch
from recollect.observer.said import SURE, forbids, telling_words

_NAME = "said"


def rules_and_corrections(seen: Contribution, past: History) -> Iterator[Hunch]:
    """What a person said in this session that holds beyond it."""
    touched = {file.path for file in seen.files}
    for one in seen.signals:
        if one.name == _NAME:
            yield _hunch(seen, one, touched)


def _hunch(seen: Contribution, one: SignalSeen, touched: set[str]) -> Hunch:
    named = tuple(sorted(path for path in touched if path in one.subject))[:3]
    return Hunch(
        signal=_NAME,
        subject=" ".join([str(forbids(one.subject)), *sorted(telling_words(one.subject))]),
        kind=Kind(one.words[0]),
        text=one.subject,
        evidence=(Evidence(seen.session.id, one.steps, one.taint, one.agents),),
        files=named,
        strength=1.0,
        spoken=True,
        worded=True,
        is_sure=one.measure >= SURE,
        trigger={"files": list(named)},
    )
