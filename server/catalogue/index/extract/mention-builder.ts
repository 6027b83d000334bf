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

/** Labels with more words are not searched: they are sentences, which no text repeats word by word. */
const MAX_LABEL_WORDS = 10

/** Number of labels, or of words with inflections, processed between two yields. */
const LABELS_PER_SLICE = 256
/** Maximum number of trie edges that a label and its variants need. */
const MAX_EDGES_PER_LABEL = 4 * MAX_LABEL_WORDS

/** Builds the tables of `MentionFinder`. `gaps` has the GAP_ kind before each word of the labels. */
export function* buildMentionFinder(
  labels: Labels,
  gaps: Uint8Array,
  postings: Postings,
  nearWords: NearWords,
): SlicedTask<MentionFinder> {
  const patterns = new MentionPatterns(labels)
  const labelPatterns = new LabelPatterns(labels, gaps, patterns)
  const variants = new MentionVariants(labels, postings, patterns)
  const { words } = labels.vocabulary
  // The first stem of a form is kept. Words of the catalogue come first, so a word that is also an inflection of another keeps
  // its own stem.
  for (let from = 0; from < words.length; from += 2048) {
    labelPatterns.addWords(from, Math.min(words.length, from + 2048))
    variants.prepareWords(from, Math.min(words.length, from + 2048))
    yield
  }
  labelPatterns.addFunctionWords()
  yield* labelPatterns.addHindiWordForms(nearWords)
  for (let from = 0; from < words.length; from += LABELS_PER_SLICE) {
    labelPatterns.addInflections(from, Math.min(words.length, from + LABELS_PER_SLICE))
    yield
  }
  const labelCount = labels.kinds.length
  // Labels are added before variants, because a variant never replaces a label.
  for (const builder of [labelPatterns, variants]) {
    for (let from = 0; from < labelCount; from += LABELS_PER_SLICE) {
      if (patterns.trie.lacksRoomFor(LABELS_PER_SLICE * MAX_EDGES_PER_LABEL)) yield* patterns.trie.grow()
      builder.addLabels(from, Math.min(labelCount, from + LABELS_PER_SLICE))
      yield
    }
  }
  variants.addShortForms()
  const tables = yield* patterns.complete()
  return new MentionFinder(
    { ...tables, functionWordKinds: labelPatterns.functionWordKindsByStem(tables.isSingleWordLabel.length) },
    nearWords,
  )
}

/** Adds the patterns of the labels and the forms of their words. `MentionVariants` adds other wordings of the labels. */
class LabelPatterns {
  private readonly labels: Labels
  private readonly gaps: Uint8Array
  private readonly patterns: MentionPatterns
  /** By stem number: LINKING_WORD, CONJUNCTION or FOLLOWING_WORD. */
  private readonly functionWordKinds = new Map<number, number>()
  /** By word number: other Latin spellings of a Hindi word that are not words of the catalogue. */
  private readonly romanisationsByWord = new Map<number, string[]>()
  /** The stem numbers of the current label; reused. */
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

  addFunctionWords(): void {
    for (const [kind, words] of [
      [LINKING_WORD, nameParts['linking words']],
      [CONJUNCTION, nameParts.conjunctions],
      [FOLLOWING_WORD, nameParts['following words']],
    ] as const)
      for (const word of words) this.functionWordKinds.set(this.patterns.addForm(word), kind)
  }

  /** Returns the kind of function word by stem number, for the stem numbers below `stemNumberCount`; 0 for other words. */
  functionWordKindsByStem(stemNumberCount: number): Uint8Array {
    const kinds = new Uint8Array(stemNumberCount)
    for (const [stemNumber, kind] of this.functionWordKinds) kinds[stemNumber] = kind
    return kinds
  }

  /**
   * Adds inflections and spellings of Hindi words. A word in Latin letters counts as Hindi if it is a homophone of a Devanagari
   * word of the catalogue.
   */
  *addHindiWordForms(nearWords: NearWords): SlicedTask<void> {
    const { vocabulary } = this.labels
    const { forms } = this.patterns
    // Devanagari words sort after Latin words.
    for (let id = vocabulary.lowerBound('ऀ'); id < vocabulary.words.length; id++) {
      const hindiWord = vocabulary.words[id]!
      if (!isDevanagari(hindiWord)) break
      for (const form of hindiInflections(hindiWord)) forms.add(form, vocabulary.stems[id]!)
      nearWords.findHomophones(hindiWord, (homophoneId, homophone) => {
        const stem = vocabulary.stems[homophoneId]!
        for (const form of romanisedInflections(homophone)) forms.add(form, stem)
        const unlistedSpellings = romanisationVariants(homophone).filter((spelling) => vocabulary.find(spelling) < 0)
        if (unlistedSpellings.length === 0) return
        this.romanisationsByWord.set(homophoneId, unlistedSpellings)
        for (const spelling of unlistedSpellings) forms.add(spelling, stem)
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
      const firstWord = wordStarts[label]!
      const endWord = wordStarts[label + 1]!
      if (endWord - firstWord > MAX_LABEL_WORDS) continue
      pattern.length = 0
      let isCompound = false
      for (let at = firstWord; at < endWord; at++) {
        pattern.push(vocabulary.stems[words[at]!]!)
        if (at > firstWord && gaps[at] === GAP_JOINER) isCompound = true
        if (at > firstWord && gaps[at] === GAP_BREAK) patterns.addPunctuationPosition(label, at - firstWord)
      }
      if (pattern.length > 1) patterns.addPattern(pattern, label)
      else {
        patterns.addSingleWord(vocabulary.words[words[firstWord]!]!, pattern[0]!, label)
        for (const spelling of this.romanisationsByWord.get(words[firstWord]!) ?? [])
          patterns.addSingleWord(spelling, pattern[0]!, label)
      }
      if (pattern.length === 2) this.addJoinedWord(label, firstWord)
      if (pattern.length === 3) this.addActivityWithoutWorkWord(label, firstWord)
      if (isCompound) this.addWithoutHyphens(label, firstWord, endWord)
    }
  }

  /**
   * Adds "welding" as a variant of "welding ka kaam" (welding work). Does not add "bijli" for "bijli ka kaam" (electrical
   * work): it is not an activity, and "bijli, pani free" means free electricity and water.
   */
  private addActivityWithoutWorkWord(label: number, from: number): void {
    const { vocabulary, words } = this.labels
    const word = vocabulary.words[words[from]!]!
    if (word.endsWith('ing') && wordsForWork.has(vocabulary.words[words[from + 2]!]!))
      this.patterns.addSingleWordVariant(word, vocabulary.stems[words[from]!]!, label)
  }

  /** Adds the joined spelling of a label of two words: "brickwork" for "brick work". */
  private addJoinedWord(label: number, from: number): void {
    const { vocabulary, words } = this.labels
    const lastWord = vocabulary.words[words[from + 1]!]!
    if (!joinedWords.has(lastWord)) return
    const word = vocabulary.words[words[from]!]! + lastWord
    this.patterns.addSingleWord(word, this.patterns.addForm(word), label)
  }

  /** Adds the spelling of a label without its hyphens: "ecommerce" for "e-commerce". */
  private addWithoutHyphens(label: number, from: number, to: number): void {
    const { vocabulary, words } = this.labels
    const { gaps, pattern, patterns } = this
    pattern.length = 0
    let word = ''
    for (let at = from; at < to; at++) {
      word = vocabulary.words[words[at]!]!
      while (at + 1 < to && gaps[at + 1] === GAP_JOINER) word += vocabulary.words[words[++at]!]!
      const stemCountBefore = patterns.extraStemCount
      const stemNumber = patterns.addForm(word)
      if (patterns.extraStemCount > stemCountBefore)
        for (const form of inflections(word)) patterns.forms.add(form, stemNumber)
      pattern.push(stemNumber)
    }
    if (pattern.length > 1) patterns.addPattern(pattern, label)
    else patterns.addSingleWord(word, pattern[0]!, label)
  }
}
