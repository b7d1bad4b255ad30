"""Cues of rules: what holds always, and what is asked for or forbidden."""

from __future__ import annotations

from recollect.core.lazy import Lazy
from recollect.observer.cues.base import CLAUSE, NO_ORDER, OBJECT, Cue

RULES = (
    # It holds always.
    Cue(
        "always or never do",
        Lazy(
            CLAUSE + r"(?:always|never) (?!(?:been|got|saw|seen|mind|had|gets|worked|used|was|were|gonna)\b)"
            r"(?![a-z]{2,20}[a-rt-z]s\b)(?!(?:nice|show|display|render|return|print|sort)\b)[a-z]{2,20}\b(?! (?:it"
            r"|this|that|them)\b)"
            r"|(?<!that )\b(?:(?:we|one|agents?|people|everyone|nobody) (?:should |must |will |do )?"
            r"|(?:you|u) (?:should|must|shall|will|do|need to|have to|ought to|are to) |(?:make sure|ensure|see to it"
            r"|remember|expect|please)(?: that)? (?:you|u) )(?:always|never) "
            r"(?!(?:been|got|saw|seen|had|said|asked|did|was|were|overwrite|gonna)\b)[a-z]{2,20}"
            r"|\bi never want\b|\bunder no circumstances\b"
        ),
        4,
        2,
    ),
    Cue(
        "must never be",
        Lazy(
            r"\b(?:should|must|shall) (?:never|always|not ever)\b"
            r"|\b(?:should|must|do|does|may)(?:n'?t| not)\b[^.?!]{0,60}\b(?:ever|under any)\b"
            r"|\b[a-z]{3,30}s are (?:always|never) |\bno [a-z]{3,20} (?:is|are) (?:needed|allowed|required)\b"
            r"|\b(?:is|are) (?:not allowed|forbidden|banned|mandatory|off.limits|read.only for|a bug$)\b|\b(?:you|we"
            r"|agents?)(?:'re| are) not allowed to\b"
            r"|\b(?:you|we)(?:'re| are) not supposed to\b|\bonly [a-z ]{3,25} (?:may|can|is allowed to) [a-z]{3,12}\b"
        ),
        3,
        1,
    ),
    Cue(
        "from now on",
        Lazy(
            r"\b(?:from now on|going forward|from here on|henceforth|next time|in (?:the )?future,"
            r"|as a (?:general )?rule|by convention|(?:our|the) (?:convention|rule|policy|standard|practice) "
            r"(?:here )?is|our (?:convention|rule|policy|standard|guideline|(?:code |coding )?style"
            r"|workflow)s?(?=[: ])|stick (?:to|with) (?:the|our) existing)\b"
        ),
        4,
        1,
    ),
    Cue(
        "everywhere",
        Lazy(
            r"\b(?:everywhere|across the (?:board|codebase|project|repo)|all over the|in every|in all (?:of )?(?:our"
            r"|the)|to every)\b"
        ),
        2,
        0,
    ),
    Cue(
        "every time",
        Lazy(
            r"\b(?:whenever|every time|each time|any ?time) (?:you|we|i|an?|the|something|new|there)\b"
            r"|\b(?:before|after) (?:every|each|any|you (?:commit|push|merge|edit)|committing|pushing|merging"
            r"|editing)\b"
        ),
        2,
        0,
    ),
    Cue(
        "each time, do",
        Lazy(
            r"^\W{0,3}(?:(?:please|and|also) )?(?:(?:whenever|every time|each time) [^.?!,]{3,60}, |before "
            r"(?:committing|pushing|merging)\b)"
        ),
        2,
        0,
    ),
    Cue(
        "every one must",
        Lazy(
            r"\b(?:every|each|all)\b(?! of (?:this|these|that|them))[^.?!,]{1,40}\b(?:needs?|must|should|ha(?:s|ve) "
            r"to)\b"
        ),
        2,
        0,
    ),
    Cue(
        "here we",
        Lazy(
            r"\b(?:in|on|for) this (?:repo|repository|project|codebase|team)\b[^.?!]{0,30}\b(?:we|is|are|uses?|has"
            r"|have|do)\b"
            r"|\bhere we\b|\bthis (?:repo|repository|project|codebase) (?:only |also |no longer )?(?:uses?|has"
            r"|does)\b"
        ),
        2,
        2,
    ),
    # It is asked for.
    Cue(
        "do not",
        Lazy(
            CLAUSE
            + r"(?:do not|don'?t|avoid|refrain from|stop(?= [a-z]{2,20}ing\b)) (?:ever |just |please )?"
            + NO_ORDER
            + OBJECT
            + r"[a-z]{2,20}(?! (?:it|this|that|them|yet)\b),? [`\w]"
        ),
        2,
        1,
    ),
    Cue("should not", Lazy(r"\b(?:should|must)(?:n'?t| not) (?!be able)" + OBJECT + r"[a-z/]{2,20}"), 1, 0),
    Cue(
        "should",
        Lazy(r"\b(?:(?:should|must)(?!n'?t| not)|needs? to|ha(?:s|ve) to|supposed to|make sure|ensure)\b"),
        1,
        0,
    ),
    Cue(
        "I prefer",
        Lazy(
            r"\bi (?:really |much |strongly |generally |usually |always )?prefer (?!option|direction|the |[abc12]\b"
            r"|u\b)"
            r"|\bi(?:'d| would) (?:much )?rather (?:you|not|use|have)\b|\bmy preference is\b|\bi (?:don'?t ever"
            r"|never) want\b"
            r"|\bi (?:really )?(?:hate|can'?t stand) (?:it )?when\b"
        ),
        3,
        0,
    ),
    Cue(
        "told before",
        Lazy(
            r"\b(?:i|we) (?:already |just |have )?told (?:you|u) (?:not )?to (?!not stop)|\bhow many times\b"
            r"|\bwhatever you do\b|\bi (?:need|want) you to (?:stop|always|never)\b|\bi (?:don'?t"
            r"|do not) like it when\b"
            r"|\bwhen in doubt\b"
            r"|\b(?:you|u) keep (?:forgetting|ignoring|doing|adding|using|creating|writing)\b|\bwhat i said was\b"
        ),
        3,
        1,
    ),
    Cue(
        "keep in mind",
        Lazy(
            r"\b(?:remember (?:that|to)|(?:keep|have|bear) in mind|note that(?! (?:this|it)\b)|be aware that"
            r"|don'?t forget (?:that|to))\b"
        ),
        2,
        2,
    ),
    Cue("bear it in mind", Lazy(r"\b(?:keep|have|bear) in mind that\b"), 1, 1),
    Cue(
        "in the rules",
        Lazy(
            r"\b(?:add|put|write|note|document)\b[^.?!]{0,40}\b(?:claude\.?md|agents?\.? ?md|instructions|guidelines"
            r"|memory)\b"
        ),
        1,
        0,
    ),
    Cue(
        "use one, not the other",
        Lazy(
            r"(?:^\W{0,4}|[.;:,!(–—-]\s{0,2}|\b(?:and|but|also|please|just|we|you|should|always|documents|files"
            r"|tests) )"
            r"(?:use|run|call|write|prefer) (?:only )?(?!an? |the (?:first|second|third|other|old|new|same|last)\b"
            r"|the \w{2,12} one\b|option)"
            + OBJECT
            + r"[`\w./@:' -]{1,40}?,? (?:instead of|rather than|(?:and |but )?not|over|never) [`\w./@-]{2,40}"
        ),
        2,
        2,
    ),
    Cue(
        "the names of things",
        Lazy(
            r"\bstop calling\b|\b(?:it'?s|is|are|they'?re) (?:now )?(?:called|named) [^.?!]{1,40}\bnot\b|\bcalled "
            r"[^.?!]{1,40}, not\b"
            r"|\bnot called\b"
        ),
        2,
        3,
    ),
)
