import { isAdvertisementPhrase } from './advertisement-words.ts'
import { everydayWords } from './everyday-words.ts'
import { ALIAS, CAPITALS, type Labels, SMALL, writingOf } from './labels.ts'
import type { Mentions } from './mentions.ts'
import { isNegated } from './negation.ts'
import type { Postings } from './postings.ts'
import { APART, Tokens } from './tokens.ts'

/**
 * All skills in a text. Every label found is a mention; where mentions overlap the longest stays; a word that means itself
 * more often than a skill counts only when written like the skill. A skill is as sure as its surest mention, and
 * a little surer for every further one.
 */

export interface Mention {
  /** UTF-16 offsets into the text as it came. */
  start: number
  end: number
  text: string
}

export interface Extracted {
  entry: number
  score: number
  mentions: Mention[]
}

const NEGATED = 0.2
const AGAIN = 0.8
/** "loading of trucks" for truck loading. */
const TURNED = 0.9
/** "HR", "salary" and the like. */
const OF_THE_ADVERTISEMENT = 0.5
/** A word that more than this part of all skills hold says little alone. */
const COMMON = 0.003

/** Words up to this length are not what they are when they are a part of a compound. */
const SHORT_PART = 4

interface Found {
  label: number
  from: number
  to: number
  start: number
  end: number
  /** Its words stand in another order. */
  turned: boolean
}

export class Extractor {
  private readonly labels: Labels
  private readonly mentions: Mentions
  private readonly postings: Postings
  private readonly tokens = new Tokens()

  constructor(labels: Labels, mentions: Mentions, postings: Postings) {
    this.labels = labels
    this.mentions = mentions
    this.postings = postings
  }

  extract(text: string, limit: number): Extracted[] {
    const tokens = this.tokens.read(text)
    const found: Found[] = []
    const count = this.labels.kinds.length
    this.mentions.each(tokens, (given, from, to) => {
      const start = tokens.starts[from]!
      const end = tokens.ends[to - 1]!
      const turned = given >= count
      const label = turned ? given - count : given
      if (to - from > 1 || this.standsAlone(label, text, tokens, from))
        found.push({ label, from, to, start, end, turned })
    })
    const skills = new Map<number, Extracted>()
    for (const { label, from, to, start, end, turned } of settle(found)) {
      const entry = this.labels.entryOf[label]!
      let score = this.worth(label) * (turned ? TURNED : 1)
      if (isNegated(text, tokens, from, to)) score *= NEGATED
      else if (isAdvertisementPhrase(tokens, from, to)) score *= OF_THE_ADVERTISEMENT
      const mention = { start, end, text: text.slice(start, end) }
      const skill = skills.get(entry)
      if (!skill) skills.set(entry, { entry, score, mentions: [mention] })
      else {
        skill.score = Math.max(skill.score, score)
        skill.mentions.push(mention)
      }
    }
    for (const skill of skills.values()) {
      const score = 1 - (1 - skill.score) * AGAIN ** (skill.mentions.length - 1)
      skill.score = Math.round((skill.score < 0.25 ? skill.score : score) * 10_000) / 10_000
    }
    return [...skills.values()]
      .sort((a, b) => b.score - a.score || a.mentions[0]!.start - b.mentions[0]!.start)
      .slice(0, limit)
  }

  /** Whether a single word may be taken for the skill. */
  private standsAlone(label: number, text: string, tokens: Tokens, at: number): boolean {
    const { wordStarts, words, vocabulary, writing } = this.labels
    const from = wordStarts[label]!
    if (wordStarts[label + 1]! - from !== 1) return true
    const word = vocabulary.words[words[from]!]!
    const short = word.length <= 2
    if (word.length <= SHORT_PART && isPartOfCompound(text, tokens.starts[at]!, tokens.ends[at]!)) return false
    if (!short && !everydayWords.has(word)) return true
    const written = writingOf(text.slice(tokens.starts[at], tokens.ends[at]))
    if (written === CAPITALS) return short || writing[label] === CAPITALS
    if (written !== writing[label]) return false
    if (written === SMALL) return short && !everydayWords.has(word)
    // At the beginning of a sentence every word has a capital, unless the word is all there is.
    const ends = at + 1 >= tokens.count || tokens.gaps[at + 1] === APART
    return ends || !beginsSentence(text, tokens.starts[at]!)
  }

  private worth(label: number): number {
    const { wordStarts, words, kinds, names } = this.labels
    const from = wordStarts[label]!
    const alias = kinds[label] === ALIAS
    if (wordStarts[label + 1]! - from > 1) return alias ? 0.75 : 0.9
    const word = words[from]!
    const common = this.postings.starts[word + 1]! - this.postings.starts[word]! > COMMON * names.length + 5
    return (alias ? 0.65 : 0.85) - (common ? 0.2 : 0)
  }
}

/** Of mentions that overlap the longest stays, of equally long ones the first. */
function settle(found: Found[]): Found[] {
  let apart = true
  for (let i = 1; apart && i < found.length; i++) apart = found[i]!.start >= found[i - 1]!.end
  if (apart) return found
  const kept: Found[] = []
  // In the order they begin, a run of overlapping ones is settled by itself.
  found.sort((a, b) => a.start - b.start)
  for (let i = 0; i < found.length; ) {
    let end = found[i]!.end
    let next = i + 1
    while (next < found.length && found[next]!.start < end) end = Math.max(end, found[next++]!.end)
    const run = found.slice(i, next).sort((a, b) => b.end - b.start - (a.end - a.start) || a.start - b.start)
    const free: Found[] = []
    for (const one of run) if (free.every((other) => one.end <= other.start || one.start >= other.end)) free.push(one)
    kept.push(...free.sort((a, b) => a.start - b.start))
    i = next
  }
  return kept
}

/** "RS-CIT" is not CIT, nor "C-form" C. */
function isPartOfCompound(text: string, start: number, end: number): boolean {
  return (
    (text[start - 1] === '-' && /\S/.test(text[start - 2] ?? ' ')) ||
    (text[end] === '-' && /\S/.test(text[end + 1] ?? ' '))
  )
}

function beginsSentence(text: string, start: number): boolean {
  let at = start - 1
  while (at >= 0 && (text[at] === ' ' || text[at] === '\t')) at--
  return at < 0 || '.!?।\n\r•*-–'.includes(text[at]!)
}
