"""What sorts of sentences look like that are no rule: praise, complaint, statement, request, a finding of a review, and
a sentence that takes back the one before it."""

from __future__ import annotations

from recollect.core.lazy import Lazy

REVIEW = Lazy(
    r"^\W{0,3}(?:(?:low|medium|high|critical)(?: severity\W{0,2}$|: )|(?:comment|finding|issue|file) \d{1,3}\b"
    r"|p[0-3]\b)"
)  # a heading of findings that somebody or something else wrote
PRAISES = Lazy(
    r"\b(?:thanks?|thank you|perfect|awesome|great (?:job|work)|good job|(?:looks?|sounds?) (?:good|great)|love it"
    r"|amazing"
    r"|excellent|well done|works? (?:great|perfectly|well)|not bad|absolutely right)\b"
    r"|^\W{0,3}(?:(?:ok|okay|yeah|oh)\W{1,3})?(?:great|nice|cool|lovely|woah|wow)\b"
)
COMPLAINS = Lazy(
    r"\b(?:still|bug|weird|wrong|slow|stuck|annoying|misleading|confusing|ugly|outdated|duplicated|verbose|too "
    r"\w{3,12})\b"
    r"|\bnot (?:seeing|working|right|visible|good enough|correctly)\b|\b(?:isn'?t|doesn'?t|don'?t|can'?t|cannot) "
    r"(?:\w+ )?(?:see|work|show"
    r"|seem|like|appear)\b|\bthat'?s not\b|\balready (?:been )?(?:fixed|built|done)\b|\bi don'?t (?:quite )?(?:like"
    r"|understand)\b"
)
STATES = Lazy(
    r"^\W{0,3}(?:(?:and|but|so|also|then|ok|okay|hmm+|oh|ah+|well|sorry|basically|obviously)\W{1,3}){0,2}"
    r"(?:the|an?|this|that|these|those|it|its|it's|i|i've|i'm|we|we're|they|there|there's|he|she|my|our|your|you"
    r"|some|one|all|in|on"
    r"|for|from|with|as|at|if|when|because|since|once|what|which|only|not|no|by|after|before|more|other|another"
    r"|currently|\d+|[A-Z]\w+:)"
    r"(?!\w)"
)
ASKS_FOR = Lazy(
    r"^\W{0,3}(?:(?:ok|okay|so|and|but|also|hmm+|wait|sorry|hey|now|then|yes|yeah|otherwise)\W{1,3}){0,2}(?:can"
    r"|could|would"
    r"|will) (?:you|u|we)"
    r" (?!(?:not|explain|tell|really|even|still)\b)(?:please |just |also |maybe )?[a-z]{2,20}\b"
)
TAKES_BACK = Lazy(
    r"^\W{0,3}(?:(?:but|and|so|well|hmm+|no)\W{1,3}){0,2}(?:is (?:that|this|it) (?:still |really |even )?(?:true"
    r"|right|so"
    r"|correct|ok|the case|valid)\b|(?:really|right|true|seriously|correct)\W{0,2}\?|do (?:you|we) (?:agree|really)\b"
    r"|(?:i|we) (?:\w{2,12}ly )?(?:disagree|do ?n'?t (?:agree|believe|buy|think so))\b|(?:i'?m )?(?:just "
    r"|only )?(?:joking"
    r"|kidding)\b|(?:i'?m )?not (?:so )?(?:sure|convinced)\b|(?:that|this|it)(?:'?s| is) (?:outdated|obsolete|nonsense"
    r"|not true|bullshit|a joke|ridiculous|rubbish)\b|ignore (?:it|that|this)\b|what (?:do you think|does (?:it"
    r"|that|this)"
    r" mean)\b|(?:brilliant|impressive|fantastic|bravo|amazing|lovely|wonderful|great idea|thanks for nothing)\W{0,3}$"
    r"|what could (?:possibly )?go wrong\b)"
)
