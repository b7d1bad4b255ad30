"""What can go wrong with a reranker. Recall keeps its own order then and says why in its notes."""

from __future__ import annotations

from recollect.core.errors import RecollectError


class RerankerDown(RecollectError):
    """The reranker gave no answer; asking again later may help."""

    code = "reranker-down"

    def __init__(self, name: str, why: str, *, hint: str = "") -> None:
        super().__init__(
            f"The reranker {name} does not answer: {why}.",
            hint=hint or 'Recall keeps its own order. Try again later, or set `reranker = "none"`.',
        )


class RerankerWrong(RecollectError):
    """The reranker answered with something that is not one mark for each text."""

    code = "reranker-wrong"

    def __init__(self, name: str, problem: str, *, hint: str = "") -> None:
        super().__init__(
            f"The reranker {name} gave a wrong answer: {problem}.",
            hint=hint or "Recall keeps its own order. Check that the setting names a model made for reranking.",
        )
