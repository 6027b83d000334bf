import { rootOf, stemOf } from '../catalogue/index/lexicon/stems.ts'

/** Text functions of the checks: words, sentences, lengths. */

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/

/** Normalises text for comparison: composed, lower case, without the Hindi nukta, which is often left out. */
export function foldText(text: string): string {
  if (PRINTABLE_ASCII.test(text)) return text.toLowerCase()
  return text
    .normalize('NFC')
    .toLowerCase()
    .replace(/\u093c/g, '')
}

export function wordsOf(text: string): string[] {
  const foldedText = foldText(text)
  if (PRINTABLE_ASCII.test(foldedText)) return foldedText.match(/[a-z0-9]+(?:'[a-z]+)?/g) ?? []
  return foldedText.match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:['’][\p{L}\p{M}]+)?/gu) ?? []
}

/** Counts visible characters; combining vowel signs do not count. */
export function visibleLength(text: string): number {
  if (PRINTABLE_ASCII.test(text)) return text.length
  let length = 0
  for (const _ of text.replace(/\p{M}/gu, '')) length++
  return length
}

/** Splits sentences; a full stop inside a number or an abbreviation does not end a sentence. */
export function sentencesOf(text: string): string[] {
  return text
    .split(/(?<=[.?!।])\s+(?=[^\p{Ll}])|(?<=।)/u)
    .map((sentence) => sentence.trim())
    .filter(Boolean)
}

/** Stop words, which may occur in both stem and key. */
const STOP_WORDS = new Set(
  `about above after again against also another because been before being below between both came come could does doing done down
  during each even ever first from gets give given goes going have having here into just keep kept know last left like long look made
  make makes many more most much need needs next nothing once only other over same says seen should some still such take takes than that
  their them then there these they thing things this those time times told took under until used uses using very want wants went were
  what when where which while will with within without work working would your yours
  अगर अपना अपनी अपने अभी आप आपका आपकी आपके आपको इस इसका इसकी इसके इसमें इसे उस उसका उसकी उसके उसमें उसे एक ऐसे ऐसा ऐसी और कर करके करना करने करनी करता करते
  करती करेंगे करें कहाँ कहीं का कि किन किया किस किसी की कुछ के को कोई कौन कौन-सा कौनसा क्या क्यों गई गए गया जब जाए जाता जाती जाते जाना जो तक तब तो था थी थे दिया दें देंगे
  देना दो नहीं ने पर पहले फिर बाद बार भी में यदि यह या ये रखें रखेंगे रहा रही रहे लिए लें लेंगे वह वाला वाली वाले वे सकता सकते सबसे समय साथ से हैं है हो होगा होगी होता होती होते होना
  होने क्योंकि लेकिन मगर चाहिए सही काम तरीका कितना कितनी कितने कैसे कैसा`
    .split(/\s+/)
    .map(foldText),
)

/** Cache of word roots (undefined for stop words), because computing them is the slowest part of a check. */
const rootCache = new Map<string, string | undefined>()
const MAX_CACHED_ROOTS = 4000

/** Returns the content words, each reduced to its root. */
export function contentWords(text: string): Set<string> {
  const contentRoots = new Set<string>()
  for (const word of wordsOf(text)) {
    let root = rootCache.get(word)
    if (root === undefined && !rootCache.has(word)) {
      root = contentRoot(word)
      if (rootCache.size >= MAX_CACHED_ROOTS) rootCache.clear()
      rootCache.set(word, root)
    }
    if (root !== undefined) contentRoots.add(root)
  }
  return contentRoots
}

function contentRoot(word: string): string | undefined {
  if (STOP_WORDS.has(word) || /^\d+$/.test(word)) return undefined
  const isLatin = /^[a-z]/.test(word)
  // Common future verb forms ("करेंगे", "लगाएँगे") occur in most Hindi stems and reveal nothing.
  if (visibleLength(word) < (isLatin ? 4 : 3) || /(?:ेंगे|एँगे|एंगे)$/.test(word)) return undefined
  return isLatin ? rootOf(stemOf(word)) : word.replace(FINAL_MARKS, '')
}

/** With the condition on the start, the time is linear in the number of marks. */
const FINAL_MARKS = /(?<!\p{M})\p{M}+$/u

/** Estimates the syllables of an English word, for the reading level. */
export function syllablesOf(word: string): number {
  const vowelGroups = word.replace(/(?:[^laeiouy]es|[^td]ed|[^l]e)$/, '').match(/[aeiouy]+/g)
  return Math.max(1, vowelGroups?.length ?? 1)
}
