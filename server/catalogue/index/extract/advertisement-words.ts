import { advertisementWords, MAX_ADVERTISEMENT_PHRASE_WORDS } from '../lexicon/lexicon.ts'
import { type Tokens, wordHash } from '../text/tokens.ts'

/** Kinds of phrases that occur in any job advertisement: they mention a skill rarely ("HR") or never ("CV"). */
export const RARELY_A_SKILL = 1
export const NEVER_A_SKILL = 2

const kindsByPhraseHash: ReadonlyMap<number, number> = new Map([
  ...advertisementWords['rarely a skill'].map((phrase): [number, number] => [phraseHash(phrase), RARELY_A_SKILL]),
  ...advertisementWords['never a skill'].map((phrase): [number, number] => [phraseHash(phrase), NEVER_A_SKILL]),
])

/** Words of "immediate joiner", which means an applicant who can start soon, not a carpenter. */
const urgencyHashes: ReadonlySet<number> = new Set(advertisementWords.urgency.map(wordHash))
const joinerHashes: ReadonlySet<number> = new Set(advertisementWords.joiners.map(wordHash))

/** Returns RARELY_A_SKILL or NEVER_A_SKILL if the words `from` up to `to` are a phrase of any job advertisement, otherwise 0. */
export function advertisementPhraseKind({ hashes }: Tokens, from: number, to: number): number {
  if (to - from > MAX_ADVERTISEMENT_PHRASE_WORDS) return 0
  if (to - from === 1 && from > 0 && urgencyHashes.has(hashes[from - 1]!) && joinerHashes.has(hashes[from]!))
    return NEVER_A_SKILL
  let hash = hashes[from]!
  for (let at = from + 1; at < to; at++) hash = combineHashes(hash, hashes[at]!)
  return kindsByPhraseHash.get(hash) ?? 0
}

/** Returns the hash of a phrase, combined from the hashes of its words in their order. */
function phraseHash(phrase: string): number {
  return phrase.split(' ').map(wordHash).reduce(combineHashes)
}

function combineHashes(hash: number, nextHash: number): number {
  return Math.imul(hash, 0x9e3779b1) ^ nextHash
}
