"""About how many tokens a text costs where no tokenizer is at hand: the house's only estimate. Pure."""

from __future__ import annotations

CHARS_PER_TOKEN = 4  # of English, measured over common tokenizers; a letter of a wide script costs about one token
_WIDE = 0x2E7F  # code points above are written without spaces: Chinese, Japanese, Korean and their like


def estimate_tokens(text: str, *, chars_per_token: int = CHARS_PER_TOKEN) -> int:
    """The tokens of a text, rounded up. Fewer characters per token make the estimate more careful."""
    wide = 0 if text.isascii() else sum(1 for letter in text if ord(letter) > _WIDE)
    return (len(text) - wide + chars_per_token - 1) // chars_per_token + wide


class EstimatedTokens:
    """The estimate as a tokenizer (`core.ports.Tokenizer`)."""

    exact = False

    def count(self, text: str) -> int:
        return estimate_tokens(text)


ESTIMATE = EstimatedTokens()
