"""The memories a server answers from: the project's, and the person's own beside it, each as its caller may use it."""

from __future__ import annotations

import threading
from collections.abc import Callable

from recollect.app import Recollect
from recollect.core.doors import HTTP, PANEL
from recollect.core.errors import PersonalStaysHere, PersonOnly
from recollect.core.people import Member
from recollect.interfaces.http.access import ApiCaller

_MOST_VIEWS = 500  # callers that are told apart at a time


class ServedStores:
    """Opens the personal store when it is first asked for, and keeps one view of a memory for each caller."""

    def __init__(self, project: Recollect, open_personal: Callable[[], Recollect]) -> None:
        self.project = project
        self._open_personal = open_personal
        self._personal: Recollect | None = None
        self._views: dict[tuple[str, str, str | None, Member | None], Recollect] = {}
        self._lock = threading.Lock()

    def view(self, store: str, caller: ApiCaller) -> Recollect:
        """A memory through the caller's own door, in their name."""
        if store == "personal" and caller.member is not None:
            raise PersonalStaysHere
        if store == "personal" and not caller.door.is_persons:
            raise PersonOnly("look into the personal store here")
        key = (store, caller.door.name, caller.name, caller.member)
        with self._lock:
            found = self._views.get(key)
            if found is None:
                if len(self._views) >= _MOST_VIEWS:
                    self._views.clear()
                found = self._open_for(store, caller)
                self._views[key] = found
            return found

    def _open_for(self, store: str, caller: ApiCaller) -> Recollect:
        if caller.member is not None:
            return self.project.seen_by(caller.member, door=caller.door.name)
        return self._open(store).through(caller.door.name, actor=caller.name)

    def by_member(self, token: str) -> ApiCaller | None:
        """The member of the team that a token of the store's own stands for."""
        found = self.project.team.by_token(token)
        if found is None:
            return None
        member, held = found
        return ApiCaller(member.name, PANEL if held.is_persons else HTTP, held.scope, member=member)

    def _open(self, store: str) -> Recollect:
        if store != "personal":
            return self.project
        if self._personal is None:
            self._personal = self._open_personal()
        return self._personal

    def close(self) -> None:
        with self._lock:
            self._views.clear()
            if self._personal is not None:
                self._personal.close()
            self.project.close()
