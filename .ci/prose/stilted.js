/** Stilted phrases, each with the words that are usual in the field. The list was checked against the documentation of Fastify, Hono and FastAPI. */

/** By name: the pattern, and the words to use. */
export const STILTED = {
  opening: [
    /(?:^|[.!?] )(?:What|Where|Whatever|Wherever|Whoever|Whether|That which)\b(?![^.]*\?)/g,
    "begin with the subject, or with if or when",
  ],
  whereIf: [
    /\b[Ww]here (?:there (?:is|are)|it (?:is|has|can|does|was|needs|could)|one (?:is|exists)|an? \w+ (?:is|has|does|needs|can)|none\b|nothing\b|nobody\b|no \w+|they (?:are|have|can)|that (?:is|does)|the (?:application|client|server|handler|header|package|value|schema|request|platform|program|pattern) (?:is|has|does|can|gives|asks|needs))/g,
    "if, when",
  ],
  whatNoun: [
    /\b(?<!(?:see|know|knows|show|shows|explain|explains|about|decide|decides|and|do|this is) )what (?:is|are|was|were|the|it|they|an?|has|have|goes|comes|came|leaves|leads|there|waits|runs|one|each|no|its|follows|fits|belongs|travels|lives|X|several|both)\b/g,
    "a noun",
  ],
  absolute: [
    /\b(?:nobody|nothing|none|no one|nowhere|by no|whatever|whoever|whichever|somebody|anybody|everybody|strangers?)\b/gi,
    "the actor; not, no",
  ],
  ofOwn: [/\bof (?:its|your|their|our|one's|his|my) own\b|\bone's own\b/g, "its own, a separate, a custom"],
  beside: [/\bbesides?\b/gi, "next to, in addition to"],
  behind: [
    /\bbehind (?:the (?:response|answer|handler|yield|head|body|last|stream|others?|end|requests?|first|name|text|password|limit|rest|slash|type)|its|it\b|that\b|an? X|X|them|which|more|whole|a (?:whole|hash|chunk|name|text|word))/g,
    "after",
  ],
  inFront: [/\bin front\b/g, "before"],
  gone: [
    /\b(?:has|have|had|is|are|was) gone\b|\bclient(?:s)? (?:that )?(?:goes|go|leaves|leave)\b/g,
    "disconnected, closed, removed",
  ],
  comes: [/\b(?:came|comes|go(?:es)? out|goes on|go on)\b/g, "arrives, is received, is sent, continues"],
  answer: [/\banswer(?:s|ed|ing)?\b/gi, "response, responds with"],
  gives: [/\b(?:gives|gave)\b/g, "returns"],
  stands: [
    /\b(?:stands?|stood)\b(?! for)|\b(?:lies|lay) (?:in|below|beside|over|at|on|above)\b|\bholds (?:for|here|to|up|on|as)\b|\bheld (?:to|against)\b/g,
    "is, requires, applies",
  ],
  leaves: [
    /\b(?:leaves|has left|had left)\b(?! (?:out|it|them|the|that|a|this|these|all|room|no|files?)\b)/g,
    "is sent, disconnects",
  ],
  alone: [/\balone\b/g, "only"],
  perA: [
    /\b(?:once|requests|answers|look-ups|milliseconds|microseconds|nanoseconds|message|instantiations|process|logins|bytes) an? (?:second|request|segment|minute|container|route|stream|turn|worker|day|method|call|pair)\b/g,
    "per",
  ],
  thatOf: [/\b(?:that|those) of\b/g, "repeat the noun"],
  fault: [/\bfaults?\b|\bfaulty\b/gi, "error, validation error, issue"],
  dated: [
    /\b(?:anew|shall|for ever|for want of|as far as|be they|to whom|of whom|whose word|mends?|mended|beforehand|all the same|in vain|some \d+|unasked|likewise|lest)\b/gi,
    "again, must, about, fixes, …",
  ],
  alsoClause: [
    /(?:^|[,;] )also (?:with|when|while|where|of|in|for|after|behind|that|those|one|if|by|from|under)\b/g,
    "even if, including",
  ],
  butFor: [/\bbut for\b|\ball but\b|\bnothing but\b|\bnone but\b|\bnothing else than\b|\belse than\b/gi, "except"],
};

/** The stilted phrases of a text without code, each with better words. */
export function findStilted(prose) {
  const text = prose
    .replaceAll(/[*_[\]|]/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  return Object.values(STILTED).flatMap(([pattern, better]) =>
    [...text.matchAll(pattern)].map((match) => `"${match[0].trim()}": ${better}`),
  );
}

/** The number of words of a text without code. */
export const countWords = (prose) => prose.split(/\s+/).filter((word) => /[A-Za-z]/.test(word)).length;
