"""What a member of a team may do to a shared store. The Writer asks here for every act in a member's sight.

A member adds, disputes, comments, and changes what they added; a steward changes whatever they see and writes for the
whole organization. What is personal stays on its own machine: nobody can write it here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.core.errors import InvalidField, PersonalStaysHere, RoleMissing, SecretStaysHere
from recollect.core.people import Member, Role
from recollect.core.records import Memory
from recollect.core.scope import Visibility, choose

if TYPE_CHECKING:
    from recollect.core.drafts import Draft
    from recollect.core.log import Action
    from recollect.store.store import Store

_OWNED = frozenset({"confirm", "reject", "edit", "supersede", "pin", "unpin", "forget"})


def limit_members_draft(draft: Draft, store: Store) -> Draft:
    """A draft as a member may write it: for people who they belong to."""
    member = store.member
    if member is None and not store.engine.is_remote:
        return draft
    visibility = choose(Visibility, draft.visibility, "visibility")
    if visibility is Visibility.PERSONAL:
        raise PersonalStaysHere
    if member is None:
        return draft
    if visibility is Visibility.TEAM and draft.team is None:
        draft = replace(draft, team=_own_team(member))
    require_audience(member, visibility, draft.team, store.project)
    return draft


def _own_team(member: Member) -> str:
    if len(member.teams) != 1:
        named = ", ".join(sorted(member.teams)) or "none"
        raise InvalidField("team", "name the team that it is for", hint=f"Yours: {named}.")
    return next(iter(member.teams))


def require_audience(member: Member, visibility: Visibility, team: str | None, project: str) -> None:
    """May a member write for these readers?"""
    if visibility is Visibility.PERSONAL:
        raise PersonalStaysHere
    if visibility is Visibility.ORGANIZATION and not member.is_at_least(Role.STEWARD):
        raise RoleMissing("write for the whole organization", needed=Role.STEWARD, held=member.role)
    if visibility is Visibility.TEAM and team not in member.teams:
        raise InvalidField("team", f"you are not in {team!r}", hint="Name a team of yours.")
    if visibility is Visibility.PROJECT and project not in member.projects:
        raise InvalidField("visibility", f"none of your teams works on {project!r}", hint="Use --visibility team.")


def require_clean(store: Store, memories: list[Memory]) -> None:
    """What held a secret is not kept where others read, not even redacted."""
    if store.member is not None and any(memory.flagged for memory in memories):
        raise SecretStaysHere


def require_right(store: Store, memory: Memory, action: Action) -> None:
    """May this member do that to a memory?"""
    if action in _OWNED and not has_right(store, memory):
        member = store.member
        held = Role.MEMBER if member is None else member.role
        raise RoleMissing(f"{_VERBS.get(action, action)} what others added", needed=Role.STEWARD, held=held)


_VERBS = {"supersede": "replace"}


def has_right(store: Store, memory: Memory) -> bool:
    """Is it the member's own, or are they one who looks after everybody's?"""
    member = store.member
    if member is None or member.is_at_least(Role.STEWARD):
        return True
    return any(
        entry.change.action == "add" and entry.actor == member.name for entry in store.log.whole_of(memory.id)
    )  # fmt: skip


def may_replace(store: Store, memory: Memory, by: Memory) -> bool:
    """May `by` take the place of a memory? In a member's sight only of one they may change, and only for all its
    readers: others would lose what they have and see nothing in its place."""
    if store.member is None:
        return True
    everyone = by.visibility is Visibility.ORGANIZATION
    same = (by.visibility, by.team) == (memory.visibility, memory.team)
    return (everyone or same) and has_right(store, memory)
