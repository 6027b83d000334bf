import { ALIAS, CAPITALS, type Labels, SMALL, writingOf } from '../labels/labels.ts'
import type { Postings } from '../labels/postings.ts'
import { advertisementKind, NEVER_WORK, SELDOM_WORK } from '../lexicon/advertisement-words.ts'
import { isAboutOthers } from '../lexicon/employer-words.ts'
import { everydayWords } from '../lexicon/everyday-words.ts'
import { isLanguage, isOneOfSeveral } from '../lexicon/language-words.ts'
import { APART, hashOf, Tokens } from '../text/tokens.ts'
import type { Mentions } from './mentions.ts'
import { isNegated } from './negation.ts'

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

const NEGATED = 0.1
const AGAIN = 0.8
/** "loading of trucks" for truck loading. */
const TURNED = 0.9
/** "overlock" for overlock sewing. */
const SHORTENED = 0.6
/** "HR" and the like. */
const OF_THE_ADVERTISEMENT = 0.2
/** "flex printing shop", "report to the sales manager". */
const OF_OTHERS = 0.4
/** "knows Tamil", "Tamil or Hindi". */
const LANGUAGE = 0.75
const ONE_OF_SEVERAL = 0.15
/** A text with so many mentions more than one names its skills in full. */
const CROWD = 8
/** How many skills a catalogue has where the worth of its words was measured. */
const USUAL_SIZE = 3000

/** Words up to this length are not what they are when they are a part of a compound. */
const SHORT_PART = 4

const everydayHashes: ReadonlySet<number> = new Set(Array.from(everydayWords, hashOf))

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
    this.mentions.each(text, tokens, (given, from, to) => {
      const start = tokens.starts[from]!
      const end = tokens.ends[to - 1]!
      const turned = given >= count
      const label = turned ? given - count : given
      // A text that is nothing but the label means it.
      const whole = to - from === tokens.count
      if (
        to - from > 1 ||
        (whole && this.isWritten(label, tokens, from, to)) ||
        this.standsAlone(label, text, tokens, from)
      )
        found.push({ label, from, to, start, end, turned })
    })
    const skills = new Map<number, Extracted>()
    const settled = settle(found)
    const crowd = Math.min(1, (settled.length - 1) / CROWD)
    for (const { label: given, from, to, start, end, turned } of settled) {
      const label = turned ? given : this.inTheseWords(given, tokens, from, to)
      const alone = to - from === tokens.count && !turned && this.isWritten(label, tokens, from, to)
      const kind = alone ? 0 : advertisementKind(tokens, from, to)
      if (kind === NEVER_WORK) continue
      const entry = this.labels.entryOf[label]!
      let score = turned && to - from === 1 ? SHORTENED : this.worth(label, crowd) * (turned ? TURNED : 1)
      if (isNegated(text, tokens, from, to)) score *= NEGATED
      else if (kind === SELDOM_WORK) score *= OF_THE_ADVERTISEMENT
      else if (isAboutOthers(tokens, from, to)) score *= OF_OTHERS
      else if (isLanguage(tokens, from, to)) score *= isOneOfSeveral(text, tokens, from) ? ONE_OF_SEVERAL : LANGUAGE
      const mention = mentionAt(text, start, end)
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

  /**
   * Of labels that differ in their words' endings the one that is written so where it stands by itself; in a sentence the ending
   * is the sentence's, and the label the one given.
   */
  private inTheseWords(given: number, tokens: Tokens, from: number, to: number): number {
    const alike = this.mentions.alike.get(given)
    if (!alike || tokens.gaps[from] !== APART || (to < tokens.count && tokens.gaps[to] !== APART)) return given
    if (this.isWritten(given, tokens, from, to)) return given
    for (const label of alike) if (this.isWritten(label, tokens, from, to)) return label
    return given
  }

  private isWritten(label: number, { hashes }: Tokens, from: number, to: number): boolean {
    const { wordStarts, words, vocabulary } = this.labels
    const first = wordStarts[label]!
    if (wordStarts[label + 1]! - first !== to - from) return false
    for (let at = from; at < to; at++)
      if (hashOf(vocabulary.words[words[first + at - from]!]!) !== hashes[at]) return false
    return true
  }

  /** Whether a single word may be taken for the skill. */
  private standsAlone(label: number, text: string, tokens: Tokens, at: number): boolean {
    const { wordStarts, words, vocabulary, writing } = this.labels
    const from = wordStarts[label]!
    if (wordStarts[label + 1]! - from !== 1) return true
    const word = vocabulary.words[words[from]!]!
    const short = word.length <= 2
    if (word.length <= SHORT_PART && isPartOfCompound(text, tokens.starts[at]!, tokens.ends[at]!)) return false
    const everyday = everydayHashes.has(tokens.hashes[at]!) || everydayWords.has(word)
    const itself = tokens.charStarts[at + 1]! - tokens.charStarts[at]! === word.length
    // The s of an abbreviation is its own: "etc" is no ETCS, PDIS no PDI. Of everyday words only the skill's own form counts.
    if (!itself && (everyday || (writing[label] === CAPITALS && text[tokens.ends[at]! - 1] !== 's'))) return false
    if (!short && !everyday) return true
    const written = writingOf(text.slice(tokens.starts[at], tokens.ends[at]))
    if (written === CAPITALS) return short || writing[label] === CAPITALS
    if (written !== writing[label]) return false
    if (written === SMALL) return short && !everyday
    // At the beginning of a sentence every word has a capital, unless the word is all there is.
    const ends = at + 1 >= tokens.count || tokens.gaps[at + 1] === APART
    return ends || !beginsSentence(text, tokens.starts[at]!)
  }

  /**
   * How often such a label is asked for where it stands. A single word that other skills have too is less sure, and the less so the
   * more skills a text names: a long text names its skills in full, and the word says something else.
   */
  private worth(label: number, crowd: number): number {
    const { wordStarts, words, kinds, names } = this.labels
    const from = wordStarts[label]!
    const alias = kinds[label] === ALIAS
    if (wordStarts[label + 1]! - from > 1) return alias ? 0.76 : 0.88
    if (!alias) return 0.86
    const word = words[from]!
    const skills = this.postings.starts[word + 1]! - this.postings.starts[word]!
    const others = (skills - 1) * Math.min(1, USUAL_SIZE / names.length)
    const common = 0.66 - 0.33 * crowd - 0.03 * Math.log2(Math.max(1, others))
    return others < 1 ? 0.66 - (0.66 - common) * others : Math.max(0.3, common)
  }
}

/** A bracket that a name opens is closed by what stands behind its last word. */
function mentionAt(text: string, start: number, end: number): Mention {
  const slice = text.slice(start, end)
  if (text[end] !== ')' || slice.lastIndexOf('(') <= slice.lastIndexOf(')')) return { start, end, text: slice }
  return { start, end: end + 1, text: `${slice})` }
}

/** Of mentions that overlap the longest stays, of equally long ones that in a label's own order, then the first. */
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
    if (next === i + 1) {
      kept.push(found[i++]!)
      continue
    }
    const run = found
      .slice(i, next)
      .sort(
        (a, b) =>
          b.to - b.from - (a.to - a.from) ||
          Number(a.turned) - Number(b.turned) ||
          b.end - b.start - (a.end - a.start) ||
          a.start - b.start,
      )
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
