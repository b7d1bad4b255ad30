"""Cues of how people work: tests, commits, tools and folders, what is done with them and what never is.

Bare plurals are meant in general ("tests must not share state"), one certain thing is a task ("the test must pass")."""

from __future__ import annotations

from recollect.core.lazy import Lazy
from recollect.observer.cues.base import CLAUSE, NO_ORDER, OBJECT, Cue
from recollect.observer.cues.lexicon import PRACTICE, THING, TOOL

PRACTICES = (
    # It is about how people work, not about what their product does.
    Cue("names a practice", Lazy(THING), 1, 1),
    Cue(
        "forbids a practice",
        Lazy(
            CLAUSE
            + r"(?:do not|don'?t|avoid|stop|refrain from|let'?s not|no more) (?:ever |just |please )?"
            + NO_ORDER
            + OBJECT
            + r"[a-z]{2,20}\b(?! (?:it|this|that|them|yet|these|those)\b)[^.?!;,]{0,60}?"
            + THING
        ),
        1,
        0,
    ),
    Cue(
        "people must not",
        Lazy(
            CLAUSE + r"(?:we|you|agents?|nobody|no one) (?:(?:should|must|may)(?:n'?t| not)|can(?:'?t|not)"
            r"|are(?:n'?t| not) allowed to|do(?:n'?t| not) have permission to) "
            r"(?!(?:be|display|show|render|see|return|print)\b)[^.?!;,]{2,60}"
        ),
        2,
        2,
    ),
    Cue(
        "all such things are so",
        Lazy(
            r"^\W{0,3}(?:(?:and|also|but|no|nope|btw|note|remember|please|ok|so)\b[\s,:]{1,3}){0,2}"
            r"(?!(?:the|this|that|these|those|my|some|your) )"
            r"(?:(?:all|every|each|any|our|new|public|private|generated|shared|no) ){0,3}(?:[a-z-]{2,20} ){0,2}"
            + PRACTICE
            + r" (?:(?:that|which|under|in|with|from) [^.?!,;]{2,40} )?(?:should|must|needs?|ha(?:s|ve) to|are|is"
            r"|go(?:es)?|live|belong|do(?:es)? ?n'?t|can'?t|may not|stay)\b"
        ),
        2,
        1,
    ),
    Cue(
        "such things must",
        Lazy(
            r"^\W{0,3}(?:(?:and|also|but|no|btw|note|remember|please|ok|so)\b[\s,:]{1,3}){0,2}"
            r"(?!(?:the|this|that|these|those|my|some|your|yes|us|its|his|does|was|is|has) )"
            r"(?:[a-z-]{2,20} ){0,2}[a-z-]{3,20}s (?:must|need|have to|should|may not|are (?:always|never))\b"
        ),
        2,
        0,
    ),
    Cue(
        "not in general",
        Lazy(
            CLAUSE
            + r"(?:do not|don'?t|never|avoid|stop) "
            + NO_ORDER
            + r"[a-z]{2,20} (?!(?:the|this|that|these|those|an?|it|them|my|your|our|any|anything|everything|all|too"
            r"|to"
            r"|for|in|on|at|with|up|out|off|back|me|us|yet|now|just|so|more|much|until|before|like|and|or|if|about"
            r"|into"
            r"|over|as|by|again|full|other|one|new|against|\w+ed|\w+ly)\b)[a-z-]{3,20}(?:s|[a-z]{2}ing|ic)?\b"
        ),
        1,
        0,
    ),
    Cue(
        "each needs one",
        Lazy(
            r"\b(?:all|every|each|any)(?: new| public| other)? [a-z-]{2,20}(?: [a-z-]{2,20})? "
            r"(?:must|needs?|should|ha(?:s|ve) to|gets?)\b[^.?!;]{0,50}?" + THING
        ),
        2,
        0,
    ),
    Cue(
        "when you do it, also",
        Lazy(
            r"\b(?:when|if|before|after) (?:you|we|adding|changing|installing|creating|committing|pushing) "
            r"(?:add|change|need|edit|create|touch|write|commit|push|install|modify|rename|remove|delete|update"
            r"|release"
            r"|run)\b[^.?!;]{2,60}\b(?:also|always|must|should|have to|need to|please|don'?t|never|run|update)\b"
        ),
        2,
        0,
    ),
    Cue(
        "do it so",
        Lazy(
            r"^\W{0,3}(?:(?:please|also|and|but|pls) ){0,2}(?:keep|put|prefer|write|name|follow|store"
            r"|spell)(?: our)? "
            r"(?!(?:the|this|that|it|them|going|an?|up|your|back|in|on|these|those|to|me|out|down)\b)[^.?!;]{0,30}?\b"
            + PRACTICE
            + r"\b"
        ),
        2,
        0,
    ),
    Cue(
        "before doing",
        Lazy(
            r"\b(?:before|after|without) (?:running|committing|pushing|installing|merging|adding|changing|editing"
            r"|deploying|releasing|asking)\b"
        ),
        1,
        0,
    ),
    Cue(
        "we work with",
        Lazy(
            r"^\W{0,3}(?:for|in) [a-z ]{2,20},? we use (?!it\b|this\b|that\b)\w|"
            + CLAUSE
            + r"(?:actually )?we (?:\w{2,12}ly |only |also |still |all |just )?(?:use|run|log|write|deploy|release"
            r"|publish|support|pin|squash|rebase|store|keep|format|lint|name|target|follow)(?! (?:it|this|that"
            r"|them)\b)"
            r"\b[^.?!;]{0,50}?(?:"
            + THING
            + r"|\beverywhere\b)|\bwe(?:'re| are) (?:all |only |still )?(?:on|using|stuck (?:on|with)) "
            + THING
        ),
        2,
        3,
    ),
    Cue(
        "we do not",
        Lazy(
            CLAUSE
            + r"we (?:do ?n'?t|do not|never|aren'?t|are not|no longer) (?:do|use|using|have|want|need|support|write"
            r"|run"
            r"|allow|keep|mock|ship|deploy|release|edit|publish|push|commit|touch|care about) "
            r"(?!to\b|it\b|this\b|that\b|them\b|an? |the |any(?:thing)?\b|your\b)[^.?!;]{2,60}"
            r"|\bwe(?:'re| are) not using (?!it\b|this\b|that\b|the\b)|\bwe only (?:accept|take|allow|do)\b"
            r"|\bwe call (?:it|them|this) [^.?!]{2,30}, not\b"
        ),
        3,
        3,
    ),
    Cue(
        "none of those",
        Lazy(
            r"^\W{0,3}(?:(?:and|also|please|but|so|btw)\b[\s,:]{1,3}){0,2}no (?!(?:need|idea|problem|worries|longer"
            r"|one|changes?|tests needed|more|just|do|don|it|the|that|this|i|we|you|use|commit|push|only|way|such"
            r"|other"
            r"|tests)\b)(?:[a-z-]{2,20} ){0,2}" + THING + r"[^.?!;]{0,40}$"
            r"|\bno (?!need|idea|one)[a-z -]{3,30}(?:, ever\b| without (?:my|asking|approval)\b)"
        ),
        5,
        0,
    ),
    Cue(
        "only this one",
        Lazy(
            r"\b(?=[\w.]{2,12} only\b)"
            + TOOL
            + r" only\b|\b(?:only|ever) (?:ever )?(?:use|run|read|write|support) [^.?!;]{0,30}?"
            + THING
            + r"|\b(?:run|use|test) only\b[^.?!;]{3,40}"
        ),
        2,
        2,
    ),
    Cue(
        "said over and over",
        Lazy(
            r"\bi (?:keep|already|have|'ve) ?(?:telling|told|said|asked)\b|\bi told (?:you|u)[^.?!]{0,12}\b(?:not to"
            r"|to never|to always|no )|\b(?:you|u) (?:keep|always) (?:forget|ignor|us|do|add|creat|writ|put)\w{0,4}"
        ),
        2,
        0,
    ),
    Cue(
        "where things are",
        Lazy(
            r"\b(?:is|are|lives?|goes?|go|belongs?|sits?|stays?|stored|kept|defined|loaded)(?: \w{2,12}ed)? "
            r"(?:in|under|at|from|on|next to|inside) (?:the )?" + THING
        ),
        0,
        1,
    ),
    Cue(
        "it is so here",
        Lazy(
            r"\b(?:is|are) (?:the|our) [a-z -]{3,30} (?:here|in this (?:repo|project|codebase))\b"
            r"|\bsource of truth\b|\bthis (?:is an? (?:mono)?repo|repo has|project (?:has|uses|is)|package (?:has"
            r"|uses))"
        ),
        0,
        3,
    ),
    Cue(
        "cannot be had",
        Lazy(
            r"\b(?:is|are)(?:n'?t| not) (?:installed|available|supported|allowed|set up|configured)\b|\bread.only\b"
            r"|\b(?:is|are) frozen\b|\bwe (?:do ?n'?t|do not) have an? \w|\b(?:have|has) no (?:ci|tests|docker"
            r"|network"
            r"|internet|access|staging)\b|\bwithout (?:docker|internet|network|sudo|root)\b"
        ),
        1,
        2,
    ),
    Cue(
        "has changed to",
        Lazy(
            r"\bwe (?:moved|switched|migrated|changed) (?:from [^.?!,]{2,30} )?to\b|\bwe (?:gave up on|stopped using"
            r"|removed|dropped|replaced"
            r"|deprecated|got rid of|renamed) (?!it\b|this\b|that\b|them\b)[^.?!]{2,40}|\b(?:was|were|has been|got"
            r"|is)"
            r" (?:renamed|replaced|moved|deprecated|superseded) (?:to|by|with|in favou?r)\b|\b(?:it|that) replaces\b"
            r"|\b(?:was|were) removed in\b|\b(?:is|are) gone\b"
        ),
        0,
        2,
    ),
    Cue(
        "needs this first",
        Lazy(
            r"\b(?:you|we) (?:need|have|must|should) (?:to )?[^.?!]{3,60}\b(?:before|first|or (?:the|it|else)"
            r"|otherwise"
            r"|beforehand)\b|\b(?:only|don'?t) works? (?:with|without|if|when|after|in|on)\b"
            r"|\bmust be (?:running|restarted|started|installed)\b"
            r"|\b(?:tests?|build|app|server|scripts?) needs? (?:an? )?(?:running|local|real)\b"
            r"|^\W{0,3}(?:use|run) [`\w./-]{2,20}, [^.?!]{3,60}\b(?:is|isn'?t|breaks|doesn'?t|fails|hangs)\b"
            r"|\b(?:you|we) need \w{2,12} (?:\d[\w.]{0,6} )?(?:for|to (?:build|run|test)|before)\b"
        ),
        2,
        2,
    ),
    Cue(
        "ask me first",
        Lazy(
            r"\bask (?:me |us )?(?:first|before)\b|\bi (?:will )?do (?:that|it|this|those) myself\b|\bon your own\b"
            r"|\bwithout asking\b|\bunless (?:i|we|you(?:'re| are)) (?:ask|say|told|tell|explicitly)"
        ),
        4,
        0,
    ),
    Cue(
        "I would rather",
        Lazy(
            r"\bi(?:'d| would)? (?:much |really |always )?(?:rather|prefer|hate|dislike) (?!option|the |this|that"
            r"|it\b"
            r"|you to|[abc12]\b)[^.?!]{3,80}(?:\b(?:over|than|to|instead of|not)\b|" + THING + ")"
        ),
        2,
        0,
    ),
    Cue(
        "that is enough",
        Lazy(
            r"\bno need to (?:run|use|write|add|create)\b[^.?!]{3,60}|\bis enough\b|\bdon'?t bother with\b"
            r"|\b(?:you|we) (?:do ?n'?t|do not) need [\w ]{2,20} here\b"
        ),
        2,
        2,
    ),
    Cue(
        "in this language",
        Lazy(
            r"\b(?:us|uk|british|american|plain)[ -]english\b|\b(?:write|answer|respond|reply|comment|everything) "
            r"(?:\w+ ){0,3}in (?:english|french|german|spanish)\b|\bin all [a-z -]{3,30} text\b"
        ),
        3,
        0,
    ),
)
