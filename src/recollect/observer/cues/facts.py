"""Cues of corrections: how things are here, and the reason and the remedy that come with what is said."""

from __future__ import annotations

from recollect.core.lazy import Lazy
from recollect.observer.cues.base import OBJECT, Cue

FACTS = (
    # How things are here.
    Cue(
        "we do so",
        Lazy(
            r"\b(?:nobody|everybody|everyone|no one) (?:here )?(?:uses|runs|has|works with|writes)\b"
            r"|\b(?:it'?s|has|have) always been\b|\bwe use [\w`.-]{2,20} (?:for|everywhere)\b|\bwe (?:release|deploy"
            r"|ship) (?:every|only|from)\b"
            r"|\bwe (?:also |currently |still |generally |usually |normally |always |only |all )"
            r"(?:use|run|support|publish|deploy|test|keep|write|store|call|commit|squash|rebase|ship)\b"
            r"|\bwe (?:currently )?(?:do ?n'?t|do not|never|no longer|aren'?t|are not) (?:\w{2,12}ly )?(?:use|using"
            r"|run|support|publish"
            r"|deploy|commit|push|edit|touch|ship|write|store|allow|mock|rebase|squash|maintain) " + OBJECT + r"\w"
        ),
        2,
        3,
    ),
    Cue(
        "there is none",
        Lazy(
            r"\bthere(?:'s| is| are|s) no [^.?!,]{1,30} (?:here|in this|on this|in (?:the|our) (?:repo|project))\b"
            r"|\bno longer (?:use[ds]?|supported|maintained|exists?) ?|\bi (?:do ?n'?t|do not) have [^.?!]{1,30} "
            r"installed\b"
            r"|\b(?:is|are)(?:n'?t| not) (?:installed|part of (?:this|the) (?:repo|project))\b|\bdoes ?n'?t exist "
            r"(?:here|in)\b"
            r"|\bi no longer (?:use|have)\b"
        ),
        1,
        3,
    ),
    Cue(
        "I thought we",
        Lazy(
            r"\bi (?:thought|thougth|thougt|assumed) (?:we|the (?:pattern|idea|convention|rule))\b(?! (?:had|found"
            r"|agreed|could|were going))"
        ),
        1,
        3,
    ),
    Cue(
        "there already",
        Lazy(
            r"\bthere(?:'s| is| are|s) already (?!a comment|an issue|a pr)|\bwe already (?:have|use) (?!(?:a lot"
            r"|this|that|it)\b)"
        ),
        0,
        3,
    ),
    Cue(
        "that is wrong",
        Lazy(
            r"\b(?:is|are|was|you'?re|you are) (?:not (?:correct|true)|wrong|incorrect|redundant|outdated|obsolete)\b"
            r"(?! (?:after|when|with))|^\W{0,3}(?:no|nope|wrong|incorrect)\b[,.!: ]{1,2}(?:that|it|this)(?:'s| is)\b"
        ),
        0,
        1,
    ),
    Cue(
        "not so but so",
        Lazy(
            r"\bnot (?:an? |the )?[\w`./-]{2,30}(?: \w{2,20}){0,4},? but (?!(?:i|we|you|it|also)\b)"
            r"|\b(?:it'?s|it is|they'?re) (?:actually |really |in |under )?[^?!]{2,40}, not "
        ),
        1,
        2,
    ),
    Cue(
        "is one, not the other",
        Lazy(
            r"\b(?:is|are|lives?|uses?|sits?|belongs?|goes|go|deploys?|runs?|comes?|live)\b[^?!]{1,50}, not "
            r"(?!the (?:first|second|third|other|last)\b)(?:in |from |under |by |on ){0,2}(?:an? |the )?"
            r"[`\w./-]{2,40}(?: \w{2,12})?\W{0,2}$"
        ),
        0,
        3,
    ),
    Cue(
        "this word, not that",
        Lazy(
            r"^\W{0,2}(?:no,? )?(?!ok|okay|yes|hmm|sure|why|maybe|if|its?\b)[\w./-]{2,30},? not (?!bad|yet|now|sure"
            r"|really|this|that|good|here)"
            r"[\w./-]{2,30}\W{0,2}$"
        ),
        0,
        5,
    ),
    Cue(
        "no, it is so",
        Lazy(
            r"^\W{0,3}(?:sorry[, ]{1,2})?(?:no|nope|wrong|incorrect|actually)[,.:!] {1,3}(?!(?:i|it should|just"
            r"|don'?t|let|you|we should"
            r"|that|this)\b)"
            r"[^?!]{3,80}\b(?:is|are|uses?|lives?|runs?|has|have|needs?|goes|belongs?|comes?)\b"
            r"|\b(?:the|its) (?:real|correct) [a-z]{2,20} is\b|\b(?:is|are|it'?s)\b[^.?!]{0,30}\b(?:on purpose"
            r"|by design)\b"
        ),
        0,
        3,
    ),
    Cue(
        "on purpose",
        Lazy(
            r"\b(?:actually|in fact), |\bthe (?:intention|point|idea) (?:of|is|was)\b"
            r"|\bintentional(?:ly)?\b"
            r"|\bin other words\b"
        ),
        0,
        2,
    ),
    Cue(
        "generated",
        Lazy(
            r"\b(?:is|are|it'?s) (?:auto.?)?generated (?:by|from|file|code)|\bpoint.in.time snapshot\b|\bgenerated "
            r"files?\b"
        ),
        1,
        2,
    ),
    Cue("you can run", Lazy(r"\byou can (?:just )?run `"), 0, 3),
    Cue(
        "wrong, and what is right",
        Lazy(r"\b(?:not (?:correct|true)|wrong|incorrect|redundant|outdated|obsolete)[,:;] (?=.{15})"),
        0,
        1,
    ),
    Cue(
        "no need for",
        Lazy(
            r"\bno need for (?!(?:this|that|it|them|an?|your"
            r"|these)\b)[a-z]{4,20} [a-z]{4,20}"
        ),
        3,
        0,
    ),
    Cue(
        "do not need",
        Lazy(
            r"\b(?:do ?n'?t|do not) need (?:any )?(?!(?:to|the|this|that|it|them|an?|your|these)\b)[a-z]{4,20} "
            r"[a-z]{6,20}"
        ),
        2,
        0,
    ),
    # What comes with it.
    Cue(
        "reason",
        Lazy(
            r"\b(?:because|since|otherwise|so that|as (?:it|that|they)\b|given|this way|that way|due to|so (?:i|we"
            r"|you|they)(?:'ll|'d)?)\b"
            r"|\btoo (?:slow|long|big|noisy|verbose|complicated)\b|\btakes? (?:an hour|hours|forever|ages|too long"
            r"|\d+ min)|\b(?:that|it|this) (?:ruins|breaks|makes|causes"
            r"|(?:will|would|just) make)\b|, (?:it'?s|it is|it takes)\b"
        ),
        1,
        1,
    ),
    Cue(
        "remedy",
        Lazy(
            r"(?:^\W{0,4}|[,;.:…(–—-]\s{0,2}|\b(?:and|but|so|then|just|please|to|should|must) )"
            r"(?:use|run) (?:only |the )?[`\w./-]{2,30}|\binstead\b|\bdirectly\b|\blet'?s avoid\b"
        ),
        1,
        1,
    ),
    Cue("do not use", Lazy(r"\b(?:do not|don'?t|never|stop|avoid) us(?:e|ing) [`\w./@-]{2,30}"), 1, 1),
    Cue(
        "unless",
        Lazy(r"\b(?:unless|except (?:for|when|in)|only (?:if|when) (?:you|we|i|there)|where possible)\b"),
        1,
        1,
    ),
)
