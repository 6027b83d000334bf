import { ALIAS, type Labels, LOWER_CASE, letterCaseOf, UPPER_CASE } from '../labels/labels.ts'
import type { Postings } from '../labels/postings.ts'
import { everydayWords } from '../lexicon/lexicon.ts'
import { GAP_BREAK, type Tokens, wordHash } from '../text/tokens.ts'
import { advertisementPhraseKind, NEVER_A_SKILL, RARELY_A_SKILL } from './advertisement-words.ts'
import { isAboutEmployerOrColleague } from './employer-words.ts'
import { isLanguage, isOneOfSeveralLanguages } from './language-words.ts'
import type { MentionFinder } from './mention-finder.ts'
import { isNegated } from './negation.ts'

/**
 * Finds the labels of the catalogue that a text contains. If labels overlap, the longest one is kept. A word with an everyday
 * meaning, such as "go", counts only if it has the same capitals as the label. `extract-reference.test.ts` has a simple
 * implementation without an index.
 */

/** Factor by which the score of a negated mention is multiplied: "no welding". */
const NEGATED_FACTOR = 0.1
/** Factor for variants of a label: "loading of trucks" for truck loading. */
const VARIANT_FACTOR = 0.9
/** Factor for words such as "HR" that any job advertisement may contain. */
const ADVERTISEMENT_WORD_FACTOR = 0.2
/** Factor for skills of the employer or a colleague: "flex printing shop", "report to the sales manager". */
const EMPLOYER_OR_COLLEAGUE_FACTOR = 0.4
/** Factor for languages: "knows Tamil". */
const LANGUAGE_FACTOR = 0.75
/** Factor for alternative languages: "Tamil or Hindi". */
const ONE_OF_SEVERAL_LANGUAGES_FACTOR = 0.15

/** Scores of a mention by kind of label, calibrated on labelled job advertisements. A long label has several words. */
const LONG_NAME_SCORE = 0.88
const LONG_ALIAS_SCORE = 0.76
const SINGLE_WORD_NAME_SCORE = 0.86
const SINGLE_WORD_ALIAS_SCORE = 0.66
/** Subtracted from the score of a single-word alias that other skills contain, too, if the text is dense (mentionDensity 1). */
const DENSE_TEXT_PENALTY = 0.33
/** Subtracted from the score of a single-word alias for each doubling of the number of other skills that contain the word. */
const PENALTY_PER_DOUBLING = 0.03
/** Minimum score of a single-word alias that other skills contain, too. */
const MIN_SHARED_WORD_SCORE = 0.3
/** Score of a mention that is a single word of a longer label: "overlock" for overlock sewing. */
const SINGLE_WORD_VARIANT_SCORE = 0.6
/** From this number of other mentions on, a text counts as dense: such texts usually write the names of skills in full. */
const MIN_DENSE_TEXT_MENTIONS = 8
/** Number of skills in the catalogue for which the scores of single words were measured. */
const MEASURED_CATALOGUE_SIZE = 3000
/** A word up to this number of letters is not a mention if a hyphen joins it with another word: "C-form". */
const MAX_COMPOUND_PART_LENGTH = 4

const everydayWordHashes: ReadonlySet<number> = new Set(Array.from(everydayWords, wordHash))

interface FoundLabel {
  label: number
  /** Index of the first word, and index after the last word. */
  from: number
  to: number
  /** Offsets in the text, in UTF-16 units. */
  start: number
  end: number
  /** Whether the label was found through a variant of it. */
  isVariant: boolean
}

/** A label in a text. */
export interface LabelMention extends FoundLabel {
  /** Index of the skill in the sorted entries (labels.ts). */
  entryIndex: number
  /** Estimated probability that the text requires the skill. */
  score: number
  isNegated: boolean
  /** Whether the text consists of the label. */
  isWholeText: boolean
}

export class LabelMentionFinder {
  private readonly labels: Labels
  private readonly finder: MentionFinder
  private readonly postings: Postings

  constructor(labels: Labels, finder: MentionFinder, postings: Postings) {
    this.labels = labels
    this.finder = finder
    this.postings = postings
  }

  /** Returns the labels in the text, in the order of the text. They do not overlap. `tokens` has the words of the text. */
  find(text: string, tokens: Tokens): LabelMention[] {
    const foundLabels: FoundLabel[] = []
    const labelCount = this.labels.kinds.length
    this.finder.findAll(text, tokens, (labelOrVariant, from, to) => {
      const start = tokens.starts[from]!
      const end = tokens.ends[to - 1]!
      const isVariant = labelOrVariant >= labelCount
      const label = isVariant ? labelOrVariant - labelCount : labelOrVariant
      // If the text is exactly the label, it is a mention even if the word has an everyday meaning.
      const isWholeText = to - from === tokens.count
      if (
        to - from > 1 ||
        (isWholeText && this.hasExactWords(label, tokens, from, to)) ||
        this.isSingleWordMention(label, text, tokens, from)
      )
        foundLabels.push({ label, from, to, start, end, isVariant })
    })
    const mentions = resolveOverlaps(foundLabels)
    const mentionDensity = Math.min(1, (mentions.length - 1) / MIN_DENSE_TEXT_MENTIONS)
    const labelMentions: LabelMention[] = []
    for (const { label: foundLabel, from, to, start, end, isVariant } of mentions) {
      const label = isVariant ? foundLabel : this.labelWithExactWords(foundLabel, tokens, from, to)
      const isWholeText = to - from === tokens.count && !isVariant && this.hasExactWords(label, tokens, from, to)
      const phraseKind = isWholeText ? 0 : advertisementPhraseKind(tokens, from, to)
      if (phraseKind === NEVER_A_SKILL) continue
      const entryIndex = this.labels.entryIndexOfLabel[label]!
      let score =
        isVariant && to - from === 1
          ? SINGLE_WORD_VARIANT_SCORE
          : this.mentionScore(label, mentionDensity) * (isVariant ? VARIANT_FACTOR : 1)
      const isNegatedMention = isNegated(text, tokens, from, to)
      if (isNegatedMention) score *= NEGATED_FACTOR
      else if (phraseKind === RARELY_A_SKILL) score *= ADVERTISEMENT_WORD_FACTOR
      else if (isAboutEmployerOrColleague(tokens, from, to)) score *= EMPLOYER_OR_COLLEAGUE_FACTOR
      else if (isLanguage(tokens, from, to))
        score *= isOneOfSeveralLanguages(text, tokens, from) ? ONE_OF_SEVERAL_LANGUAGES_FACTOR : LANGUAGE_FACTOR
      labelMentions.push({
        label,
        from,
        to,
        start,
        end,
        isVariant,
        entryIndex,
        score,
        isNegated: isNegatedMention,
        isWholeText,
      })
    }
    return labelMentions
  }

  /**
   * Chooses among labels with the same stems, such as "stress test" and "stress testing". If the mention is a separate phrase,
   * returns the label with exactly its words. Inside a sentence the grammar determines the endings, so the found label is
   * returned.
   */
  private labelWithExactWords(label: number, tokens: Tokens, from: number, to: number): number {
    const otherLabels = this.finder.labelsWithSameStems.get(label)
    if (!otherLabels || tokens.gaps[from] !== GAP_BREAK || (to < tokens.count && tokens.gaps[to] !== GAP_BREAK))
      return label
    if (this.hasExactWords(label, tokens, from, to)) return label
    for (const other of otherLabels) if (this.hasExactWords(other, tokens, from, to)) return other
    return label
  }

  /** Whether the words of the label equal the words `from` up to `to` of the text, with the same endings. */
  private hasExactWords(label: number, { hashes }: Tokens, from: number, to: number): boolean {
    const { wordStarts, words, vocabulary } = this.labels
    const firstWord = wordStarts[label]!
    if (wordStarts[label + 1]! - firstWord !== to - from) return false
    for (let at = from; at < to; at++)
      if (wordHash(vocabulary.words[words[firstWord + at - from]!]!) !== hashes[at]) return false
    return true
  }

  /** Whether the word at `at` is a mention of the label. Rejects everyday words, parts of compounds and similar abbreviations. */
  private isSingleWordMention(label: number, text: string, tokens: Tokens, at: number): boolean {
    const { wordStarts, words, vocabulary, letterCases } = this.labels
    const firstWord = wordStarts[label]!
    // Single words that mention a longer label, such as "brickwork" for "brick work", were selected when the index was built.
    if (wordStarts[label + 1]! - firstWord !== 1) return true
    const word = vocabulary.words[words[firstWord]!]!
    const isShort = word.length <= 2
    if (word.length <= MAX_COMPOUND_PART_LENGTH && isPartOfCompound(text, tokens.starts[at]!, tokens.ends[at]!))
      return false
    const isEveryday = everydayWordHashes.has(tokens.hashes[at]!) || everydayWords.has(word)
    const hasSameLength = tokens.charStarts[at + 1]! - tokens.charStarts[at]! === word.length
    // An abbreviation may only gain a small plural s: "PDIs" mentions PDI, but "PDIS" does not, and "etc" does not mention
    // ETCS. An everyday word must have the form of the label.
    if (!hasSameLength && (isEveryday || (letterCases[label] === UPPER_CASE && text[tokens.ends[at]! - 1] !== 's')))
      return false
    if (!isShort && !isEveryday) return true
    const letterCase = letterCaseOf(text.slice(tokens.starts[at], tokens.ends[at]))
    if (letterCase === UPPER_CASE) return isShort || letterCases[label] === UPPER_CASE
    if (letterCase !== letterCases[label]) return false
    if (letterCase === LOWER_CASE) return isShort && !isEveryday
    // The first word of a sentence always has a capital, so its capital counts only if no other word follows: "Go" as a list
    // item.
    const endsPhrase = at + 1 >= tokens.count || tokens.gaps[at + 1] === GAP_BREAK
    return endsPhrase || !beginsSentence(text, tokens.starts[at]!)
  }

  /**
   * Returns the probability that a mention of this label is a requirement. An alias of one word scores lower if other skills
   * contain the word, too. It scores even lower if the text has many mentions: such a text names its skills in full, and the
   * word alone often means something else. `mentionDensity` is 0 for one mention and 1 for many.
   */
  private mentionScore(label: number, mentionDensity: number): number {
    const { wordStarts, words, kinds, names } = this.labels
    const firstWord = wordStarts[label]!
    const isAlias = kinds[label] === ALIAS
    if (wordStarts[label + 1]! - firstWord > 1) return isAlias ? LONG_ALIAS_SCORE : LONG_NAME_SCORE
    if (!isAlias) return SINGLE_WORD_NAME_SCORE
    const word = words[firstWord]!
    const skillCount = this.postings.starts[word + 1]! - this.postings.starts[word]!
    // Scaled to a catalogue of MEASURED_CATALOGUE_SIZE skills, so it can be a fraction.
    const otherSkillCount = (skillCount - 1) * Math.min(1, MEASURED_CATALOGUE_SIZE / names.length)
    const sharedWordScore =
      SINGLE_WORD_ALIAS_SCORE -
      DENSE_TEXT_PENALTY * mentionDensity -
      PENALTY_PER_DOUBLING * Math.log2(Math.max(1, otherSkillCount))
    return otherSkillCount < 1
      ? SINGLE_WORD_ALIAS_SCORE - (SINGLE_WORD_ALIAS_SCORE - sharedWordScore) * otherSkillCount
      : Math.max(MIN_SHARED_WORD_SCORE, sharedWordScore)
  }
}

/**
 * Removes mentions that overlap a better one. A mention is better if it has more words, then if it is no variant of a label,
 * then if it has more characters, then if it comes first.
 */
function resolveOverlaps(foundLabels: FoundLabel[]): FoundLabel[] {
  let areDisjoint = true
  for (let i = 1; areDisjoint && i < foundLabels.length; i++)
    areDisjoint = foundLabels[i]!.start >= foundLabels[i - 1]!.end
  if (areDisjoint) return foundLabels
  const resolvedMentions: FoundLabel[] = []
  // Each run of overlapping mentions is resolved separately.
  foundLabels.sort((a, b) => a.start - b.start)
  for (let i = 0; i < foundLabels.length; ) {
    let end = foundLabels[i]!.end
    let next = i + 1
    while (next < foundLabels.length && foundLabels[next]!.start < end) end = Math.max(end, foundLabels[next++]!.end)
    if (next === i + 1) {
      resolvedMentions.push(foundLabels[i++]!)
      continue
    }
    const overlappingMentions = foundLabels
      .slice(i, next)
      .sort(
        (a, b) =>
          b.to - b.from - (a.to - a.from) ||
          Number(a.isVariant) - Number(b.isVariant) ||
          b.end - b.start - (a.end - a.start) ||
          a.start - b.start,
      )
    const keptMentions: FoundLabel[] = []
    for (const mention of overlappingMentions) {
      if (keptMentions.every((other) => mention.end <= other.start || mention.start >= other.end))
        keptMentions.push(mention)
    }
    resolvedMentions.push(...keptMentions.sort((a, b) => a.start - b.start))
    i = next
  }
  return resolvedMentions
}

/** Whether a hyphen joins the word with another: "RS-CIT" does not mention CIT, and "C-form" does not mention C. */
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
