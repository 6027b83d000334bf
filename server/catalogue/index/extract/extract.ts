import { ALIAS, type Labels, LOWER_CASE, letterCaseOf, UPPER_CASE } from '../labels/labels.ts'
import type { Postings } from '../labels/postings.ts'
import { everydayWords } from '../lexicon/lexicon.ts'
import { GAP_BREAK, Tokens, wordHash } from '../text/tokens.ts'
import { advertisementKind, NEVER_A_SKILL, RARELY_A_SKILL } from './advertisement-words.ts'
import { isAboutOthers } from './employer-words.ts'
import { isLanguage, isOneOfSeveral } from './language-words.ts'
import type { MentionFinder } from './mention-finder.ts'
import { isNegated } from './negation.ts'

/**
 * Extracts the skills that a text mentions. Every label that is found is a mention. If mentions overlap, the longest one is kept.
 * A word with an everyday meaning counts only if it has the same capitals as the skill. The score of a skill is that of its best mention,
 * raised a little by every further one. `extract-reference.test.ts` states how mentions are found, without an index.
 */

export interface Mention {
  /** UTF-16 offsets into the original text. */
  start: number
  end: number
  text: string
}

export interface Extracted {
  entry: number
  score: number
  mentions: Mention[]
}

/** Factors of a mention's score. */
const NEGATED_FACTOR = 0.1
/** "loading of trucks" for truck loading. */
const VARIANT_FACTOR = 0.9
/** Words such as "HR" that every advertisement may contain. */
const ADVERTISEMENT_WORD_FACTOR = 0.2
/** "flex printing shop", "report to the sales manager". */
const ABOUT_OTHERS_FACTOR = 0.4
/** "knows Tamil", "Tamil or Hindi". */
const LANGUAGE_FACTOR = 0.75
const ONE_OF_SEVERAL_LANGUAGES_FACTOR = 0.15

/** Score of a single word for a longer label: "overlock" for overlock sewing. */
const SINGLE_WORD_VARIANT_SCORE = 0.6
/** Each further mention of a skill multiplies the remaining doubt (1 - score) by this factor. */
const DOUBT_FACTOR_PER_MENTION = 0.8
/** Skills with a lower score are not raised by further mentions. */
const MIN_SCORE_TO_RAISE = 0.25
/** A text with this many further mentions names its skills in full. */
const MANY_MENTIONS = 8
/** Number of skills in the catalogue that was used to measure the scores of single words. */
const MEASURED_CATALOGUE_SIZE = 3000
/** Words up to this length do not count as a mention if they are part of a compound. */
const MAX_COMPOUND_PART_LENGTH = 4

const everydayHashes: ReadonlySet<number> = new Set(Array.from(everydayWords, wordHash))

interface FoundMention {
  label: number
  /** Words `from` up to `to`. */
  from: number
  to: number
  start: number
  end: number
  /** Whether it was found through a variant of the label. */
  isVariant: boolean
}

export class Extractor {
  private readonly labels: Labels
  private readonly finder: MentionFinder
  private readonly postings: Postings
  private readonly tokens = new Tokens()

  constructor(labels: Labels, finder: MentionFinder, postings: Postings) {
    this.labels = labels
    this.finder = finder
    this.postings = postings
  }

  extract(text: string, limit: number): Extracted[] {
    const tokens = this.tokens.read(text)
    const found: FoundMention[] = []
    const labelCount = this.labels.kinds.length
    this.finder.findAll(text, tokens, (numbered, from, to) => {
      const start = tokens.starts[from]!
      const end = tokens.ends[to - 1]!
      const isVariant = numbered >= labelCount
      const label = isVariant ? numbered - labelCount : numbered
      // A text that consists of the label means it.
      const isWholeText = to - from === tokens.count
      if (
        to - from > 1 ||
        (isWholeText && this.hasWords(label, tokens, from, to)) ||
        this.isMentionAlone(label, text, tokens, from)
      )
        found.push({ label, from, to, start, end, isVariant })
    })
    const skills = new Map<number, Extracted>()
    const mentions = resolveOverlaps(found)
    const crowding = Math.min(1, (mentions.length - 1) / MANY_MENTIONS)
    for (const { label: foundLabel, from, to, start, end, isVariant } of mentions) {
      const label = isVariant ? foundLabel : this.labelWithTheseWords(foundLabel, tokens, from, to)
      const isWholeText = to - from === tokens.count && !isVariant && this.hasWords(label, tokens, from, to)
      const kind = isWholeText ? 0 : advertisementKind(tokens, from, to)
      if (kind === NEVER_A_SKILL) continue
      const entry = this.labels.entryOfLabel[label]!
      let score =
        isVariant && to - from === 1
          ? SINGLE_WORD_VARIANT_SCORE
          : this.labelScore(label, crowding) * (isVariant ? VARIANT_FACTOR : 1)
      if (isNegated(text, tokens, from, to)) score *= NEGATED_FACTOR
      else if (kind === RARELY_A_SKILL) score *= ADVERTISEMENT_WORD_FACTOR
      else if (isAboutOthers(tokens, from, to)) score *= ABOUT_OTHERS_FACTOR
      else if (isLanguage(tokens, from, to))
        score *= isOneOfSeveral(text, tokens, from) ? ONE_OF_SEVERAL_LANGUAGES_FACTOR : LANGUAGE_FACTOR
      const mention = mentionAt(text, start, end)
      const skill = skills.get(entry)
      if (!skill) skills.set(entry, { entry, score, mentions: [mention] })
      else {
        skill.score = Math.max(skill.score, score)
        skill.mentions.push(mention)
      }
    }
    for (const skill of skills.values()) {
      const raised = 1 - (1 - skill.score) * DOUBT_FACTOR_PER_MENTION ** (skill.mentions.length - 1)
      skill.score = Math.round((skill.score < MIN_SCORE_TO_RAISE ? skill.score : raised) * 10_000) / 10_000
    }
    return [...skills.values()]
      .sort((a, b) => b.score - a.score || a.mentions[0]!.start - b.mentions[0]!.start)
      .slice(0, limit)
  }

  /**
   * Chooses among labels that differ only in the endings of their words: the one that is written like the mention if the mention
   * is a separate phrase. Inside a sentence the grammar determines the endings, so the label that was found is kept.
   */
  private labelWithTheseWords(label: number, tokens: Tokens, from: number, to: number): number {
    const others = this.finder.sameStems.get(label)
    if (!others || tokens.gaps[from] !== GAP_BREAK || (to < tokens.count && tokens.gaps[to] !== GAP_BREAK)) return label
    if (this.hasWords(label, tokens, from, to)) return label
    for (const other of others) if (this.hasWords(other, tokens, from, to)) return other
    return label
  }

  /** Whether the words of the label are exactly the words `from` up to `to`. */
  private hasWords(label: number, { hashes }: Tokens, from: number, to: number): boolean {
    const { wordStarts, words, vocabulary } = this.labels
    const first = wordStarts[label]!
    if (wordStarts[label + 1]! - first !== to - from) return false
    for (let at = from; at < to; at++)
      if (wordHash(vocabulary.words[words[first + at - from]!]!) !== hashes[at]) return false
    return true
  }

  /** Whether a single word is a mention of the label. */
  private isMentionAlone(label: number, text: string, tokens: Tokens, at: number): boolean {
    const { wordStarts, words, vocabulary, letterCases } = this.labels
    const from = wordStarts[label]!
    if (wordStarts[label + 1]! - from !== 1) return true
    const word = vocabulary.words[words[from]!]!
    const isShort = word.length <= 2
    if (word.length <= MAX_COMPOUND_PART_LENGTH && isPartOfCompound(text, tokens.starts[at]!, tokens.ends[at]!))
      return false
    const isEveryday = everydayHashes.has(tokens.hashes[at]!) || everydayWords.has(word)
    const hasSameLength = tokens.charStarts[at + 1]! - tokens.charStarts[at]! === word.length
    // A capital S belongs to an abbreviation: "etc" is not ETCS, PDIS is not PDI. Everyday words count only in the label's form.
    if (!hasSameLength && (isEveryday || (letterCases[label] === UPPER_CASE && text[tokens.ends[at]! - 1] !== 's')))
      return false
    if (!isShort && !isEveryday) return true
    const letterCase = letterCaseOf(text.slice(tokens.starts[at], tokens.ends[at]))
    if (letterCase === UPPER_CASE) return isShort || letterCases[label] === UPPER_CASE
    if (letterCase !== letterCases[label]) return false
    if (letterCase === LOWER_CASE) return isShort && !isEveryday
    // At the beginning of a sentence every word has a capital, unless the word is the whole sentence.
    const endsPhrase = at + 1 >= tokens.count || tokens.gaps[at + 1] === GAP_BREAK
    return endsPhrase || !beginsSentence(text, tokens.starts[at]!)
  }

  /**
   * Returns how often a mention of such a label is a requirement. A single word that other skills contain, too, is less certain,
   * and even less if the text mentions many skills: a long text names its skills in full and means something else by the word.
   */
  private labelScore(label: number, crowding: number): number {
    const { wordStarts, words, kinds, names } = this.labels
    const from = wordStarts[label]!
    const alias = kinds[label] === ALIAS
    if (wordStarts[label + 1]! - from > 1) return alias ? 0.76 : 0.88
    if (!alias) return 0.86
    const word = words[from]!
    const skills = this.postings.starts[word + 1]! - this.postings.starts[word]!
    const others = (skills - 1) * Math.min(1, MEASURED_CATALOGUE_SIZE / names.length)
    const common = 0.66 - 0.33 * crowding - 0.03 * Math.log2(Math.max(1, others))
    return others < 1 ? 0.66 - (0.66 - common) * others : Math.max(0.3, common)
  }
}

/** Includes the closing bracket if the mention has the opening one. */
function mentionAt(text: string, start: number, end: number): Mention {
  const slice = text.slice(start, end)
  if (text[end] !== ')' || slice.lastIndexOf('(') <= slice.lastIndexOf(')')) return { start, end, text: slice }
  return { start, end: end + 1, text: `${slice})` }
}

/** Keeps the overlapping mention with the most words; among these labels before variants, then the longest, then the first. */
function resolveOverlaps(found: FoundMention[]): FoundMention[] {
  let disjoint = true
  for (let i = 1; disjoint && i < found.length; i++) disjoint = found[i]!.start >= found[i - 1]!.end
  if (disjoint) return found
  const resolved: FoundMention[] = []
  // Each run of overlapping mentions is resolved separately.
  found.sort((a, b) => a.start - b.start)
  for (let i = 0; i < found.length; ) {
    let end = found[i]!.end
    let next = i + 1
    while (next < found.length && found[next]!.start < end) end = Math.max(end, found[next++]!.end)
    if (next === i + 1) {
      resolved.push(found[i++]!)
      continue
    }
    const run = found
      .slice(i, next)
      .sort(
        (a, b) =>
          b.to - b.from - (a.to - a.from) ||
          Number(a.isVariant) - Number(b.isVariant) ||
          b.end - b.start - (a.end - a.start) ||
          a.start - b.start,
      )
    const selected: FoundMention[] = []
    for (const one of run) {
      if (selected.every((other) => one.end <= other.start || one.start >= other.end)) selected.push(one)
    }
    resolved.push(...selected.sort((a, b) => a.start - b.start))
    i = next
  }
  return resolved
}

/** Whether a hyphen joins the word with another: "RS-CIT" is not CIT, nor "C-form" C. */
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
