"""Cues that a sentence is not meant as it stands, or is not the speaker's: irony, laughter, pretence, wonder, hearsay.

They weigh nothing themselves. One leaves a doubt, so that a person looks at it first; with two nothing is kept.
"""

from __future__ import annotations

from recollect.core.lazy import Lazy
from recollect.observer.cues.base import Cue

IRONY = "irony"
_NOTHING = 2
_PLEASED = (
    r"(?:great|wonderful|lovely|nice|brilliant|fantastic|perfect|joy|amazing|awesome|terrific|marvell?ous|super"
    r"|splendid"
    r"|impressive|congrat\w{0,10}|bravo|cool|excellent)"
)
_LAUGHTER = r"(?:\b(?:lo+l+|lmf?ao+|rofl|(?:ha){2,6}h?|(?:he){2,6}h?|jk|xd)\b|(?<!\S)/s\b|[😂🤣🙄😏😅]|(?<!\S);-?[DP)])"
_LASTS = (
    r"[^.?!]{0,80}\b(?:always|never|must|should|shall|need|have to|don'?t|do not|no longer|from now on|we|us|me to)\b"
)

DOUBTS = (
    Cue(
        IRONY,
        Lazy(
            r"^\W{0,3}(?:oh|ah+|ha|aww?|yay|hooray)[,!]? (?:how )?" + _PLEASED + r"\b|\byeah,? (?:right|sure)\b"
            r"|^\W{0,3}(?:(?:yes|ok|oh|well)\W{1,3})?sure,? (?:let'?s |just )?(?:never|always)\b|^\W{0,3}(?:wow"
            r"|bravo|congrat\w{0,10}|slow clap)\b"
            r"|\bwhat could (?:possibly )?go wrong\b|\bsaid no ?(?:one|body) ever\b|\bthanks for nothing\b"
            r"|\bbecause why not\b|\bhow (?:clever|lovely|brilliant)\b|\bthis is fine\b"
        ),
        0,
        0,
        _NOTHING,
    ),
    Cue(
        "pleased with how it is",
        Lazy(
            r"^\W{0,3}" + _PLEASED + r"(?: job| work)?[,!:… ]{1,4}(?:so |and |now |that |in this \w{2,12} ){0,3}"
            r"(?:we|you|u|they|he|she|nobody|everyone) (?:\w{2,12} ){0,3}?(?:always|never|must|no longer)\b"
        ),
        0,
        0,
        _NOTHING,
    ),
    Cue("laughter", Lazy(_LAUGHTER), 0, 0, 1),
    Cue(
        "laughs at how it is",
        Lazy(
            rf"^(?=.{{0,400}}{_LAUGHTER}).{{0,300}}\b(?:we|they|you|u|he|she|nobody|everyone) (?:always|never|still"
            r"|no longer|do ?n'?t)\b"
        ),
        0,
        0,
        1,
    ),
    Cue(
        "joking",
        Lazy(
            r"\b(?:sarcas\w{1,6}|ironic\w{0,4}|irony|(?:just |only )?(?:joking|kidding)|jokes?)\b(?! (?:in|from|to)\b)"
        ),
        0,
        0,
        1,
    ),
    Cue("apparently", Lazy(r"\b(?:apparently|supposedly|allegedly|reportedly|rumou?r has it|great idea)\b"), 0, 0, 1),
    Cue(
        "pretence",
        Lazy(
            r"\b(?:let'?s|let us|let me) (?:just )?(?:pretend|imagine|suppose|assume|say we)\b"
            r"|^\W{0,3}(?:(?:ok|so|now|and|but|just)\W{1,3}){0,2}(?:imagine|suppose|supposing|pretend|assume|assuming"
            r"|say we|picture)\b|\bhypothetical(?:ly)?\b|\bin an? (?:ideal|perfect|parallel|dream) world\b|\bif only\b"
            r"|\bwhat if\b|\bpretend(?:ing)? (?:that )?(?:we|you|i)\b|\bi wish\b"
        ),
        0,
        0,
        _NOTHING,
    ),
    Cue(
        "wonder",
        Lazy(
            r"\b(?:wonder(?:ing|ed)?|not sure|unsure|uncertain|do ?n'?t know|no idea|debating|undecided|curious"
            r"|can'?t (?:decide|remember)|(?:the )?question is) (?:if|whether|why|when|how)\b"
            r"|\b(?:should|must|could|can)(?:n'?t| never| not) have (?:\w{2,12}ly )?"
            r"\w{2,20}(?:ed|en|ne|own|ade|ght|ept|eft|ost"
            r"|ut)(?: (?:to|the|an?|this|that|these|it|from|in|on|with|into|away|up|our|my|[A-Z]\w{1,20})\b|\W{0,2}$)"
        ),
        0,
        0,
        _NOTHING,
    ),
    Cue(
        "what others think",
        Lazy(
            r"\b(?:thinks|believes|claims|claimed|reckons|argues|argued|feels|suspects|complains|jokes|pretends"
            r"|(?:they|people|some|others|folks|many|users|colleagues|guys) (?:\w{2,12} ){0,3}?(?:think|believe|claim"
            r"|reckon|argue|feel|complain|say|saying|insist))\b" + _LASTS
        ),
        0,
        0,
        _NOTHING,
    ),
    Cue(
        "what others say",
        Lazy(
            r"\b(?!(?:i|we|already|just|also|have|had|keep|as|what|always|never|ever"
            r"|nobody)\b)[\w'.-]{1,40} (?:always |just |once "
            r"|also )?(?:says?|said|told (?:me|us|them|you)|wants?|insists?|wrote|writes|asked|puts it|recommends?"
            r"|suggests?|suggested|requires|mentioned|answered|replied|responded|printed|warned|states?|stated|reads)\b"
            + _LASTS
            + r"|\baccording to\b|\bas (?:the|per) [^.?!,]{2,40},"
            r"|\bi(?:'ve)? (?:\w{2,12} )?(?:heard|read|dreamt|dreamed|(?:was|been) told)\b"
        ),
        0,
        0,
        1,
    ),
    Cue(
        "does not agree",
        Lazy(
            r"\b(?:i|we) (?:\w{2,12}ly )?(?:disagree|do ?n'?t (?:agree|believe|buy))\b|\bi'?m not (?:so "
            r"|really )?(?:sure"
            r"|convinced)\b|\b(?:total|utter|complete|such|what|that'?s|which is) (?:nonsense|bullshit|bs|rubbish"
            r"|a joke"
            r"|ridiculous)\b"
        ),
        0,
        0,
        _NOTHING,
    ),
    Cue(
        "how it goes",
        Lazy(
            r"\b(?:we|they|i|people|everyone) (?:always|never) (?:have (?:this|that|the same|such|these"
            r"|a) (?:\w{2,12} )?"
            r"(?:problems?|issues?|troubles?)|seem|forget|end up|get (?:this|stuck)|manage|struggle|run into|lose|hear"
            r"|finish|know|pay for|suffer|regret|find a way|break)\b"
        ),
        0,
        0,
        _NOTHING,
    ),
    Cue(
        "what you do",
        Lazy(
            r"(?<!make sure )(?<!make sure that )(?<!ensure )(?<!ensure that )(?<!see to it that )(?<!remember )"
            r"(?<!remember that )(?<!expect that )(?<!please )\b(?:you|u) (?:always|never)\b(?! (?:need|have|must"
            r"|should)\b)"
        ),
        0,
        0,
        1,
    ),  # a complaint more often than an order
    Cue(
        "asks what you think",
        Lazy(
            r"^\W{0,3}(?:(?:so|and|but|hey|ok)\W{1,3})?do(?:es)? (?:you|u|we|they|anyone|it) (?:think|believe|know"
            r"|agree|mean)\b"
        ),
        0,
        0,
        _NOTHING,
    ),
)
