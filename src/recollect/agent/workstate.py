"""Where work stopped: drawn from an agent's last words without a model, kept as a memory, told to the next session."""

from __future__ import annotations

import re
from collections.abc import Iterator

from recollect.agent.ground import Ground
from recollect.core.drafts import Draft, Receipt
from recollect.core.payloads import WorkState
from recollect.core.records import WorkUnit
from recollect.core.scope import Scope, Source
from recollect.core.text import excerpt
from recollect.privacy.fence import own_words

CONFIDENCE = 0.9  # the agent's own account, an hour old at most
_READ = 6_000  # characters of the last words that are looked at
_LINE = 300  # characters of one point
_MOST = 12  # points of one sort

_DONE = re.compile(r"^\s{0,8}(?:[-*•]\s{0,4})?(?:\[[xX]\]|✅|☑|✔️?)\s{0,4}(\S.*)$")
_OPEN = re.compile(r"^\s{0,8}(?:[-*•]\s{0,4})?(?:\[ \]|⬜|☐|🔲|⏳)\s{0,4}(\S.*)$")
_HEAD = re.compile(
    r"^[\s#*_>-]{0,12}(done|completed|finished|in progress|working on|next(?: steps?)?|todo|to do|remaining|left to do"
    r"|decided|decisions?|key decisions)[*_ ]{0,4}(?::[*_ ]{0,4}(.*))?$",
    re.IGNORECASE,
)
_POINT = re.compile(r"^\s{0,8}(?:[-*•]|\d{1,2}[.)])\s{1,4}(\S.*)$")
_SORTS = {"done": "done", "completed": "done", "finished": "done", "in progress": "doing", "working on": "doing"}


def drawn(last_words: str) -> WorkState | None:
    """The state of work as an agent's last words list it: ticked and open boxes, and the points under Done, In
    progress, Next and Decided. Nothing when they list none of it."""
    found: dict[str, list[str]] = {"done": [], "doing": [], "next": [], "decided": []}
    for sort, point in _points(own_words(last_words)[-_READ:]):
        if len(found[sort]) < _MOST:
            found[sort].append(excerpt(point.strip("*_ "), _LINE))
    if not any(found.values()):
        return None
    doing, ahead = found["doing"], found["next"]
    return WorkState(
        completed=tuple(found["done"]),
        in_progress="; ".join(doing) or (ahead[0] if ahead else ""),
        next_step="; ".join(ahead[:3]),
        key_decisions=tuple(found["decided"]),
    )


def _points(text: str) -> Iterator[tuple[str, str]]:
    under = ""
    for line in text.split("\n"):
        if box := _DONE.match(line):
            yield "done", box.group(1)
        elif box := _OPEN.match(line):
            yield "next", box.group(1)
        elif head := _HEAD.match(line):
            under = _sort(head.group(1).lower())
            if head.group(2):
                yield under, head.group(2)
        elif under and (point := _POINT.match(line)):
            yield under, point.group(1)
        elif line.strip() and not line.startswith((" ", "\t")):
            under = ""


def _sort(head: str) -> str:
    if head in _SORTS:
        return _SORTS[head]
    return "decided" if head.startswith(("decid", "key", "decision")) else "next"


def keep(
    ground: Ground,
    state: WorkState,
    *,
    session: str,
    unit: WorkUnit | None = None,
    stated: bool = False,
    tainted: str = "",
) -> Receipt:
    """Remember where a session stopped. What its agent stated itself counts as said; what was drawn from its words
    waits for nobody either, but is marked for review, and kept from other sessions when it reached outside."""
    text = ground.methodology.work_state_text(state)
    return ground.remember(
        [
            Draft(
                text,
                kind="work_state",
                confidence=CONFIDENCE,
                source=Source.AGENT_EXPLICIT if stated else Source.OBSERVER_INFERRED,
                status="active",
                needs_review=not stated,
                scope=Scope.WORK_UNIT if unit else Scope.SESSION,
                session=session,
                work_unit=unit,
                payload=state,
                attributes={"tainted": True, "outside": tainted} if tainted else {},
                weighed=True,
            )
        ]
    )[0]
