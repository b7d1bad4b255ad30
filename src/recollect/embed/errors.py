"""What can go wrong on the way from text to vector. Recall catches all of these and says so in its notes."""

from __future__ import annotations

from collections.abc import Iterable

from recollect.core.errors import NotFound, RecollectError, Refused

INSTALL = "recollect models install"


class EmbedderDown(RecollectError):
    """The embedder gave no answer; asking again later may help."""

    code = "embedder-down"

    def __init__(self, model: str, why: str, *, hint: str = "") -> None:
        super().__init__(
            f"The embedder {model} does not answer: {why}.",
            hint=hint or "Recall goes on by keywords. Try again later, or choose another embedder.",
        )
        self.why = why


class EmbedderWrong(RecollectError):
    """The embedder answered with something that is not the vectors asked for."""

    code = "embedder-wrong"

    def __init__(self, model: str, problem: str, *, hint: str = "") -> None:
        super().__init__(
            f"The embedder {model} gave a wrong answer: {problem}.",
            hint=hint or "Nothing was stored. Check that the setting names the model and dimensions the server has.",
        )
        self.problem = problem


class PackMissing(NotFound):
    code = "pack-missing"

    def __init__(self, pack: str) -> None:
        super().__init__(f"The model pack {pack} is not installed.", hint=f"`{INSTALL} {pack}` fetches it.")


class PackCorrupt(Refused):
    """Bytes that are not the pinned ones. They are never put in place."""

    code = "pack-corrupt"

    def __init__(self, pack: str, file: str, problem: str, *, where: str) -> None:
        super().__init__(
            f"{file} of the model pack {pack} is refused: {problem} ({where}).",
            hint=f"Nothing was changed. Try another source, or `{INSTALL} {pack}` to fetch it anew.",
        )


class PackNotFetched(NotFound):
    """No source had the pack; the message says what each of them answered."""

    code = "pack-not-fetched"

    def __init__(self, pack: str, reasons: Iterable[str]) -> None:
        super().__init__(
            f"The model pack {pack} could not be fetched. " + " ".join(f"{reason}." for reason in reasons),
            hint=f"Fetch its files elsewhere and run `{INSTALL} {pack} --from FOLDER`. Keyword recall works without.",
        )
