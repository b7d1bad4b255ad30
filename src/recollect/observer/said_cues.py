"""The cues by which a sentence of a person is told: a sign, and what it weighs for a rule and for a correction.

Weights are whole numbers, chosen so that one plain cue of lastingness with a reason, or with a remedy, is enough and a
sign of the day outweighs it. `benchmarks/learning.py --part said` measures them, also without the cues that only the
measured project bears out; weights fitted there did worse. Patterns are linear: what repeats is bounded.
"""

from __future__ import annotations

from typing import NamedTuple

from recollect.core.lazy import Lazy


class Cue(NamedTuple):
    """A sign in a sentence, and what it says for a rule and for a correction."""

    name: str
    pattern: Lazy
    rule: int
    correction: int


# Where a clause begins.
_CLAUSE = (
    r"(?:^\W{0,4}|[.;:,!(–—-]\s{0,2}"
    r"|\b(?:and|but|so|also|please|pls|just|ok|okay|yes|yeah|no|nope|then|that|again|to) )"
)
# Verbs after "don't" that tell of the speaker and ask for nothing.
_NO_ORDER = (
    r"(?!(?:know|think|see|understand|mind|worry|forget|have|need|like|want|care|remember|bother|get|believe|follow"
    r"|seem|feel|mean|really|even|quite|work|yet|do|be|give|exist|wait|look|appear|contribute|recall|agree|expect)\b)"
)
_OBJECT = r"(?!(?:it|this|that|them|these|those|anything|everything)\b(?! \w))"  # a thing that has a name

CUES = (
    # It holds always.
    Cue(
        "always or never do",
        Lazy(
            _CLAUSE + r"(?:always|never) (?!(?:been|got|saw|seen|mind|had|gets|worked|used|was|were)\b)"
            r"(?![a-z]{2,20}[a-rt-z]s\b)[a-z]{2,20}"
            r"|\b(?:we|you|one|agents?|people|everyone|nobody) (?:should |must |will |do )?(?:always|never) "
            r"(?!(?:been|got|saw|seen|had|said|asked|did|was|were|overwrite)\b)[a-z]{2,20}"
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
            r"|\b(?:is|are) (?:not allowed|forbidden|off.limits|read.only for)\b|\bnot allowed to\b"
        ),
        3,
        1,
    ),
    Cue(
        "from now on",
        Lazy(
            r"\b(?:from now on|going forward|from here on|henceforth|next time|in (?:the )?future,"
            r"|as a (?:general )?rule|by convention|(?:our|the) (?:convention|rule|policy|standard|practice) "
            r"(?:here )?is)\b"
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
            r"|\bhere we\b|\bthis (?:repo|repository|project|codebase) (?:only |also |no longer )?(?:uses?|has|does)\b"
        ),
        2,
        2,
    ),
    # It is asked for.
    Cue(
        "do not",
        Lazy(
            _CLAUSE
            + r"(?:do not|don'?t|avoid|refrain from|(?:please )?stop) (?:ever |just |please )?"
            + _NO_ORDER
            + _OBJECT
            + r"[a-z]{2,20}(?! (?:it|this|that|them|yet)\b)"
        ),
        2,
        1,
    ),
    Cue("should not", Lazy(r"\b(?:should|must)(?:n'?t| not) (?!be able)" + _OBJECT + r"[a-z/]{2,20}"), 1, 0),
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
            r"|\b(?:you|u) keep (?:forgetting|ignoring|doing|adding|using|creating|writing)\b|\bwhat i said was\b"
        ),
        3,
        1,
    ),
    Cue(
        "keep in mind",
        Lazy(
            r"\b(?:remember (?:that|to)|(?:keep|have|bear) in mind|note that|be aware that|don'?t forget (?:that|to))\b"
        ),
        2,
        2,
    ),
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
            r"(?:use|run|call|write|prefer) (?:only )?(?!the (?:first|second|third|other|old|new|same|last)\b|option)"
            + _OBJECT
            + r"[`\w./@: -]{1,40}?,? (?:instead of|rather than|(?:and |but )?not|over|never) [`\w./@-]{2,40}"
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
    # How things are here.
    Cue(
        "we do so",
        Lazy(
            r"\bwe (?:also |currently |still |generally |usually |normally |always |only |all )"
            r"(?:use|run|support|publish|deploy|test|keep|write|store|call|commit|squash|rebase|ship)\b"
            r"|\bwe (?:currently )?(?:do ?n'?t|do not|never|no longer|aren'?t|are not) (?:\w{2,12}ly )?(?:use|using"
            r"|run|support|publish"
            r"|deploy|commit|push|edit|touch|ship|write|store|allow|mock|rebase|squash|maintain) " + _OBJECT + r"\w"
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
        2,
    ),
    Cue(
        "not so but so",
        Lazy(
            r"\bnot (?:an? |the )?[\w`./-]{2,30}(?: \w{2,20}){0,4},? but (?!(?:i|we|you|it|also)\b)"
            r"|\b(?:it'?s|it is|that'?s|that is|they'?re) (?:actually |really |in |under )?[^.?!]{2,40}, not "
        ),
        1,
        2,
    ),
    Cue(
        "is one, not the other",
        Lazy(
            r"\b(?:is|are|lives?|uses?|sits?|belongs?|goes)\b[^.?!]{1,50}, not (?:in |by |on |an? |the "
            r")?[`\w./-]{2,40}\W{0,2}$"
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
            r"^\W{0,3}(?:no|nope|wrong|incorrect|actually)[,.:!] {1,3}(?!(?:i|it should|just|don'?t|let|you|we should"
            r"|that|this)\b)"
            r"[^?!]{3,80}\b(?:is|are|uses?|lives?|runs?|has|have|needs?|goes|belongs?)\b"
        ),
        0,
        3,
    ),
    Cue(
        "on purpose",
        Lazy(
            r"\b(?:actually|in fact), |\bthe (?:intention|point|idea) (?:of|is|was)\b|\bon purpose\b|\bby design\b"
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
    Cue("you have", Lazy(r"\byou (?:do )?have (?:\w{2,12} )?access\b|\byou can (?:just )?run `"), 0, 3),
    Cue(
        "wrong, and what is right",
        Lazy(r"\b(?:not (?:correct|true)|wrong|incorrect|redundant|outdated|obsolete)[,:;] (?=.{15})"),
        0,
        1,
    ),
    Cue("no need for", Lazy(r"\bno need for (?!(?:this|that|it|them|an?|your|these)\b)[a-z]{4,20} [a-z]{4,20}"), 3, 0),
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
            r"|\btoo (?:slow|long|big|noisy|verbose|complicated)\b|\b(?:that|it|this) (?:ruins|breaks|makes|causes"
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
    # It is about today, or not said at all.
    Cue("question", Lazy(r"\?[\s\W]{0,4}$|^\W{0,3}(?:q|question)\b"), -4, -4),
    Cue(
        "asks",
        Lazy(
            r"^\W{0,3}(?:(?:ok|okay|so|and|but|also|hmm+|wait|sorry|hey)\W{1,3}){0,2}(?:how|what(?! i (?:said|mean"
            r"|want))|whats"
            r"|why|who|where|cant|(?:is|are|was|were|did|do|does|has|have|should|would|could|can|will)(?:n'?t)?"
            r" (?:it|there|this|that|the|these|those|we|you|u|i|they|he|she|an?|any|all|every))\b"
        ),
        -3,
        -3,
    ),
    Cue(
        "can always",
        Lazy(r"\b(?:can|could|will|would) always\b|\bif (?:\w+ ){1,3}(?:don'?t|do not|no longer|never|always)\b"),
        -4,
        -4,
    ),
    Cue(
        "hedge",
        Lazy(
            r"\b(?:maybe|perhaps|i guess|i wonder|i'?m wondering|not sure|might|could|seems?|probably|i suppose"
            r"|possibly|looks like"
            r"|i suspect|i think|i don'?t think|assum(?:e|ing|ption)|i feel|if possible|theoretically)\b"
        ),
        -2,
        -1,
    ),
    Cue(
        "for now",
        Lazy(
            r"\b(?:for now|right now|at the moment|today|just yet|until|this time|as of now|let'?s see|in that case"
            r"|for the time being"
            r"|in this (?:pr|branch|commit|case|session))\b"
        ),
        -3,
        -2,
    ),
    Cue(
        "this task",
        Lazy(
            r"\b(?:this|that|the|these|those|a|an|new|same|current) (?:pr|prs|pull request|commits?|branch|issue"
            r"|ticket|todo|plan|bead|worker"
            r"|phase|batch|comments?|changelog|spec|release|task|line|section|paragraph|sentence|title|button|modal"
            r"|tab|page|header|readme)\b"
        ),
        -2,
        -1,
    ),
    Cue("one place", Lazy(r"#\d|https?://|(?<!\w)@\w|:\d{1,5}\b|\bline \d"), -2, -1),
    Cue(
        "what a screen shows",
        Lazy(
            r"\b(?:displays?|displayed|button|modal|tab|colou?rs?|icon|logo|padding|align(?:ed)?|gradient|title"
            r"|screen|wording)\b"
        ),
        -2,
        -1,
    ),
    Cue(
        "do this",
        Lazy(
            r"^\W{0,3}(?:(?:ok|okay|yes|yeah|yep|no|nah|and|also|then|now|so|please|great|cool|nice|can you|could "
            r"you|can we|go ahead and"
            r"|go|next|alright|sure|i want you to|i want to|i'd like to|we should|we (?:also )?need to|lets"
            r"|let's)\W{1,3}){0,4}(?:add"
            r"|analy[sz]e|address|apply"
            r"|ask|build|change|check|clean|clone|close|commit|continue|create|delete|draft|drop|ensure|execute"
            r"|explain|extend|find|fix"
            r"|fold|generate|get|give|have|implement|improve|investigate|look|make|mark|mention|merge|move|open"
            r"|print|proceed|pull|push|read"
            r"|rebase|remove|rename|replace|research|reset|resume|revert|review|rework|rewrite|show|spawn|start"
            r"|summari[sz]e|switch|take"
            r"|tell|test|try|update|verify|watch|work|do (?:an?|the|that|this|it|all|both|\d))\b"
        ),
        -2,
        -3,
    ),
    Cue(
        "what happened",
        Lazy(
            r"\b(?:i|it|we) (?:just |also |still |have |had |'ve )*(?:did|ran|got|saw|tried|tested|noticed|deployed"
            r"|see|get|found)\b"
            r"|^(?:(?!\bbecause\b).){0,300}\b(?:fails?|failed|failing|errors?|broken|crash\w{0,3}|stuck|does ?n'?t "
            r"(?:work|seem|appear)|not working|panics?|severity)\b"
            r"|\bno(?:t any)? test coverage\b|\bi (?:never|don'?t) s(?:aw|ee)\b|^\W{0,3}\(?(?:high|medium|low"
            r"|critical)\b"
        ),
        -3,
        -2,
    ),
    Cue("opens a list", Lazy(r":\W{0,2}$"), -3, -2),
    Cue("few words", Lazy(r"^\W{0,3}(?:[^\s]+\s+){0,2}[^\s]+\W{0,3}$"), -3, -2),
)
