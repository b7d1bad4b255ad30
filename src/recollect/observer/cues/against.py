"""Cues against keeping a sentence: it asks, it is about today, one task or the product, or it says too little."""

from __future__ import annotations

from recollect.core.lazy import Lazy
from recollect.observer.cues.base import Cue
from recollect.observer.cues.lexicon import PRODUCT

AGAINST = (
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
            r"|i suspect|to see (?:if|whether)|i think|i don'?t think|i assume|assuming|assumption|i feel"
            r"|if possible|theoretically)\b"
        ),
        -2,
        -1,
    ),
    Cue(
        "for now",
        Lazy(
            r"\b(?:for now|right now|at the moment|today|just yet|until|this time|as of now|let'?s see|in that case"
            r"|for the time being"
            r"|in this (?:\w{2,8} )?(?:pr|branch|commit|case|session|step))\b"
        ),
        -4,
        -2,
    ),
    Cue(
        "this task",
        Lazy(
            r"\b(?:this|that|the|these|those|same|current) (?:pr|prs|pull request|commits?|branch|issue"
            r"|ticket|todo|plan|bead|worker"
            r"|phase|batch|comments?|changelog|spec|release(?! branch)|task|line|section|paragraph|sentence|title"
            r"|button|modal"
            r"|tab|page|header|readme)\b"
        ),
        -2,
        -1,
    ),
    Cue(
        "points at the talk",
        Lazy(
            r"^\W{0,3}(?:and |but |also )?(?:this|these|those) (?:is|are|also|includes?|will|should|was|has)\b"
            r"(?! (?:an? |the |our )?(?:\w{2,12} )?(?:monorepo|repo|library|project|cli|service|package|app)\b)"
            r"|\b(?:bullet|point|item|option|comment|question|finding) #?\d|\bthe (?:two|three|other"
            r"|remaining) [a-z]{3,20}s\b"
        ),
        -3,
        -3,
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
            r"|ask|build|change|check|clean|clone|close|commit(?! messages?)|continue|create|delete|draft|drop"
            r"|ensure|execute"
            r"|explain|extend|find|fix"
            r"|fold|generate|get|give|have(?! in mind)|implement|improve|investigate|look|make|mark|mention|merge"
            r"|move|open"
            r"|print|proceed|pull|push|read"
            r"|rebase|remove|rename|replace|research|reset|resume|revert|review|rework|rewrite|show|spawn|start"
            r"|summari[sz]e|switch|take"
            r"|tell|test|try|update|verify|watch|work|do (?:an?|the|that|this|it|all|both|\d))\b"
        ),
        -3,
        -3,
    ),
    Cue(
        "what happened",
        Lazy(
            r"\b(?:i|it|we) (?:just |also |still |have |had |'ve )*(?:did|ran|got|saw|tried|tested|noticed|deployed"
            r"|see|get|found)\b"
            r"|^(?:(?!\bbecause\b|\bor (?:the|it|they)\b|\botherwise\b).){0,300}\b(?:fails?|failed|failing|errors?"
            r"|broken|crash\w{0,3}|stuck|does ?n'?t "
            r"(?:work|seem|appear)|not working|panics?|severity)\b"
            r"|\bno(?:t any)? test coverage\b|\bi (?:never|don'?t) s(?:aw|ee)\b|^\W{0,3}\(?(?:high|medium|low"
            r"|critical)\b"
        ),
        -3,
        -2,
    ),
    Cue("of the product", Lazy(rf"\b{PRODUCT}\b"), -2, -1),
    Cue(
        "one certain thing",
        Lazy(
            r"^\W{0,3}(?:(?:and|also|but|so|ok|if|when)\b[^.?!]{0,40}?)?\b(?:the|this|that|it|he|she) ?"
            r"(?:[a-z-]{2,20} ){0,2}(?:should|must|needs? to|has to|shouldn'?t|can'?t)\b"
        ),
        -2,
        -2,
    ),
    Cue(
        "bounds of a task",
        Lazy(
            r"\b(?:make|do) (?:any )?(?:code )?changes\b|\b(?:edit|change|touch|modify) (?:any |other "
            r"|any other )?files?\b|\bany other files?\b|\bdo not commit\b|\bbeyond\b"
            r"|\btask \d|\bplease (?:fix|remove|check|look|add|change)\b|\bcan you\b"
            r"|, (?:please )?(?:fix|drop|delete|revert|add|remove|redirect|show|check) (?:it|this|that|the|a)\b"
        ),
        -3,
        -3,
    ),
    Cue("opens a list", Lazy(r":\W{0,2}$"), -3, -2),
    Cue("hardly more words", Lazy(r"^\W{0,3}(?:[^\s]+\s+){3}[^\s]+\W{0,3}$"), -2, 0),
    Cue("few words", Lazy(r"^\W{0,3}(?:[^\s]+\s+){0,2}[^\s]+\W{0,3}$"), -3, -2),
)
