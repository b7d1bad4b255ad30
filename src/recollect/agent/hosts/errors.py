"""What can be in the way of an installation. Whatever it is, no file of the host was changed."""

from __future__ import annotations

from recollect.core.errors import InvalidInput, NotFound, Refused, StoreError


class HostConfigBroken(InvalidInput):
    """A settings file that its own host could not read either, or that has another shape than the host's."""

    code = "host-config-broken"

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(
            f"{path}: {problem}.", hint="Nothing was changed. Mend that file, then run the same command again."
        )


class HostConfigMoved(Refused):
    """The file is not what it was when the changes were worked out."""

    code = "host-config-moved"

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path} was changed by somebody else in this moment.",
            hint="Nothing was changed. Run the same command again, with the host closed.",
        )


class HostConfigUnwritable(StoreError):
    code = "host-config-unwritable"

    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            f"{path} cannot be written: {why}.",
            hint="What had been changed was put back. Check the permissions of the file and its directory.",
        )


class ProgramMissing(NotFound):
    code = "program-missing"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The program `{name}` is neither beside this Python nor on the path.",
            hint="Install Recollect with pip, pipx or uv, and run the `recollect` that came with it.",
        )
