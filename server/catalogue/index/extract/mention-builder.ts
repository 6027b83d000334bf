import type { Labels } from '../labels/labels.ts'
import type { NearWords } from '../labels/near-words.ts'
import type { Postings } from '../labels/postings.ts'
import { nameParts } from '../lexicon/lexicon.ts'
import { inflections } from '../lexicon/stems.ts'
import { hindiInflections, misspellingsOf, romanisedInflections } from '../lexicon/word-forms.ts'
import { isDevanagari, romanisationVariants } from '../text/phonetics.ts'
import type { SlicedTask } from '../text/time-slicing.ts'
import { GAP_BREAK, GAP_JOINER } from '../text/tokens.ts'
import { CONJUNCTION, FOLLOWING_WORD, LINKING_WORD, MentionFinder } from './mention-finder.ts'
import { MentionPatterns } from './mention-patterns.ts'
import { MentionVariants } from './mention-variants.ts'

const joinedWords = new Set(nameParts['joined words'])
const wordsForWork = new Set(nameParts['words for work'])

/** Longer labels are sentences, which no text repeats word by word. */
const MAX_LABEL_WORDS = 10

/** Labels processed between two yields, and the maximum number of trie edges that a label and its variants need. */
const LABELS_PER_SLICE = 256
const MAX_EDGES_PER_LABEL = 4 * MAX_LABEL_WORDS

export function* buildMentionFinder(
  labels: Labels,
  gaps: Uint8Array,
  postings: Postings,
  nearWords: NearWords,
): SlicedTask<MentionFinder> {
  const patterns = new MentionPatterns(labels)
  const builder = new LabelPatterns(labels, gaps, patterns)
  const variants = new MentionVariants(labels, postings, patterns)
  const { words } = labels.vocabulary
  // The words of the catalogue come first: a form that is itself a word of the catalogue keeps its own stem.
  for (let from = 0; from < words.length; from += 2048) {
    builder.addWords(from, Math.min(words.length, from + 2048))
    variants.readWords(from, Math.min(words.length, from + 2048))
    yield
  }
  builder.addRoles()
  yield* builder.addHindiForms(nearWords)
  for (let from = 0; from < words.length; from += LABELS_PER_SLICE) {
    builder.addInflections(from, Math.min(words.length, from + LABELS_PER_SLICE))
    yield
  }
  const count = labels.kinds.length
  for (const pass of [builder, variants]) {
    for (let from = 0; from < count; from += LABELS_PER_SLICE) {
      if (patterns.trie.isFull(LABELS_PER_SLICE * MAX_EDGES_PER_LABEL)) yield* patterns.trie.grow()
      pass.addLabels(from, Math.min(count, from + LABELS_PER_SLICE))
      yield
    }
  }
  variants.addShortForms()
  const tables = yield* patterns.complete()
  return new MentionFinder({ ...tables, roles: builder.rolesOf(tables.isSingle.length) }, nearWords)
}

/** Adds the labels themselves, and the forms that their words take. */
class LabelPatterns {
  private readonly labels: Labels
  private readonly gaps: Uint8Array
  private readonly patterns: MentionPatterns
  private readonly roles = new Map<number, number>()
  private readonly romanisations = new Map<number, string[]>()
  private readonly pattern: number[] = []

  constructor(labels: Labels, gaps: Uint8Array, patterns: MentionPatterns) {
    this.labels = labels
    this.gaps = gaps
    this.patterns = patterns
  }

  addWords(from: number, to: number): void {
    const { words, stems } = this.labels.vocabulary
    for (let id = from; id < to; id++) this.patterns.forms.add(words[id]!, stems[id]!)
  }

  addRoles(): void {
    for (const [role, words] of [
      [LINKING_WORD, nameParts['linking words']],
      [CONJUNCTION, nameParts.conjunctions],
      [FOLLOWING_WORD, nameParts['following words']],
    ] as const)
      for (const word of words) this.roles.set(this.patterns.addForm(word), role)
  }

  /** Returns the role of each of the first `size` numbers. */
  rolesOf(size: number): Uint8Array {
    const roles = new Uint8Array(size)
    for (const [number, role] of this.roles) roles[number] = role
    return roles
  }

  /** Adds inflections and spellings of Hindi words. A Latin word that sounds like a Devanagari word of the catalogue is Hindi. */
  *addHindiForms(nearWords: NearWords): SlicedTask<void> {
    const { vocabulary } = this.labels
    const { forms } = this.patterns
    // Devanagari sorts after Latin.
    for (let id = vocabulary.lowerBound('ऀ'); id < vocabulary.words.length; id++) {
      const hindi = vocabulary.words[id]!
      if (!isDevanagari(hindi)) break
      for (const form of hindiInflections(hindi)) forms.add(form, vocabulary.stems[id]!)
      nearWords.findHomophones(hindi, (other, word) => {
        for (const form of romanisedInflections(word)) forms.add(form, vocabulary.stems[other]!)
        const unlisted = romanisationVariants(word).filter((spelling) => vocabulary.find(spelling) < 0)
        if (unlisted.length === 0) return
        this.romanisations.set(other, unlisted)
        for (const spelling of unlisted) forms.add(spelling, vocabulary.stems[other]!)
      })
      if (id % 64 === 63) yield
    }
  }

  addInflections(from: number, to: number): void {
    const { words, stems } = this.labels.vocabulary
    const { forms } = this.patterns
    for (let id = from; id < to; id++) {
      for (const form of inflections(words[id]!)) forms.add(form, stems[id]!)
      for (const form of misspellingsOf(words[id]!)) forms.add(form, stems[id]!)
    }
  }

  addLabels(fromLabel: number, toLabel: number): void {
    const { vocabulary, wordStarts, words } = this.labels
    const { gaps, pattern, patterns } = this
    for (let label = fromLabel; label < toLabel; label++) {
      const from = wordStarts[label]!
      const to = wordStarts[label + 1]!
      if (to - from > MAX_LABEL_WORDS) continue
      pattern.length = 0
      let isCompound = false
      for (let at = from; at < to; at++) {
        pattern.push(vocabulary.stems[words[at]!]!)
        if (at > from && gaps[at] === GAP_JOINER) isCompound = true
        if (at > from && gaps[at] === GAP_BREAK) patterns.addSign(label, at - from)
      }
      if (pattern.length > 1) patterns.add(pattern, label)
      else {
        patterns.addSingle(vocabulary.words[words[from]!]!, pattern[0]!, label)
        for (const spelling of this.romanisations.get(words[from]!) ?? [])
          patterns.addSingle(spelling, pattern[0]!, label)
      }
      if (pattern.length === 2) this.addJoined(label, from)
      if (pattern.length === 3) this.addActivityWithoutWork(label, from)
      if (isCompound) this.addWithoutHyphens(label, from, to)
    }
  }

  /** Adds welding for "welding ka kaam"; not bijli for "bijli ka kaam", because of "bijli, pani free". */
  private addActivityWithoutWork(label: number, from: number): void {
    const { vocabulary, words } = this.labels
    const word = vocabulary.words[words[from]!]!
    if (word.endsWith('ing') && wordsForWork.has(vocabulary.words[words[from + 2]!]!))
      this.patterns.addSingleVariant(word, vocabulary.stems[words[from]!]!, label)
  }

  /** Adds brickwork for "brick work". */
  private addJoined(label: number, from: number): void {
    const { vocabulary, words } = this.labels
    const last = vocabulary.words[words[from + 1]!]!
    if (!joinedWords.has(last)) return
    const word = vocabulary.words[words[from]!]! + last
    this.patterns.addSingle(word, this.patterns.addForm(word), label)
  }

  /** Adds ecommerce for "e-commerce". */
  private addWithoutHyphens(label: number, from: number, to: number): void {
    const { vocabulary, words } = this.labels
    const { gaps, pattern, patterns } = this
    pattern.length = 0
    let word = ''
    for (let at = from; at < to; at++) {
      word = vocabulary.words[words[at]!]!
      while (at + 1 < to && gaps[at + 1] === GAP_JOINER) word += vocabulary.words[words[++at]!]!
      const countBefore = patterns.extraStemCount
      const number = patterns.addForm(word)
      if (patterns.extraStemCount > countBefore) for (const form of inflections(word)) patterns.forms.add(form, number)
      pattern.push(number)
    }
    if (pattern.length > 1) patterns.add(pattern, label)
    else patterns.addSingle(word, pattern[0]!, label)
  }
}
