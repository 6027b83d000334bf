import { ALIAS, type Labels, NAME } from '../labels/labels.ts'
import { spellingVariants, stemOf } from '../lexicon/stems.ts'
import { hindiInflections, misspellingsOf } from '../lexicon/word-forms.ts'
import { Int32List } from '../text/int32-list.ts'
import { isDevanagari } from '../text/phonetics.ts'
import type { SlicedTask } from '../text/time-slicing.ts'
import { WordTable } from '../text/word-table.ts'
import { FormTable, Trie } from './mention-tables.ts'
import { PunctuatedNames } from './punctuated-names.ts'

/**
 * Estimates for the initial capacities of the tables, from the catalogues indexed so far: forms per word, trie edges per word of
 * a label, spellings per label of one word.
 */
const EXPECTED_FORMS_PER_WORD = 3.5
const EXPECTED_EDGES_PER_LABEL_WORD = 0.8
const EXPECTED_SPELLINGS_PER_SINGLE_WORD = 2

interface SingleWordLabel {
  word: string
  label: number
}

/**
 * Builds the tables of `MentionFinder`. A label of several words is stored as a pattern, a sequence of stem numbers in a trie.
 * A label of one word is stored in a table of words. A stem of the vocabulary keeps its number; other stems get the numbers from
 * `vocabulary.stemCount` on. A variant, another wording of a label, is stored with the number of its label plus the number of
 * labels.
 */
export class MentionPatterns {
  readonly trie: Trie
  readonly forms: FormTable
  private readonly labels: Labels
  private readonly singleWords: SingleWordLabel[] = []
  private readonly singleWordVariants: SingleWordLabel[] = []
  /** Stems that are not in the vocabulary. */
  private readonly extraStems = new WordTable()
  /** By stem number: the trie node of patterns that begin with it, or 0. */
  private readonly firstNodes = new Int32List()
  /** By stem number: 1 if a label or variant of one word has this stem. */
  private readonly isSingleWordLabel = new Int32List()
  /** By label in the trie: labels of other skills with the same pattern, such as "stress testing" for "stress test". */
  private readonly labelsWithSameStems = new Map<number, number[]>()
  /** By label: a bit set, in which bit i means that punctuation precedes word i of the label. */
  private readonly punctuationPositions: Uint16Array

  constructor(labels: Labels) {
    this.labels = labels
    this.punctuationPositions = new Uint16Array(labels.kinds.length)
    this.trie = new Trie(labels.words.length * EXPECTED_EDGES_PER_LABEL_WORD)
    this.forms = new FormTable(labels.vocabulary.words.length * EXPECTED_FORMS_PER_WORD)
  }

  /** Returns the stem number of a word. A stem that is not in the vocabulary gets the next number. */
  stemNumberOf(word: string): number {
    const { vocabulary } = this.labels
    const stem = stemOf(word)
    const existingStem = vocabulary.findStem(stem)
    return existingStem >= 0 ? existingStem : vocabulary.stemCount + this.extraStems.addWord(stem)
  }

  /** Adds the word to the forms that are recognised in a text. Returns its stem number. */
  addForm(word: string): number {
    const stemNumber = this.stemNumberOf(word)
    this.forms.add(word, stemNumber)
    return stemNumber
  }

  get extraStemCount(): number {
    return this.extraStems.size
  }

  /** Adds a word, with its stem number, that mentions the label. */
  addSingleWord(word: string, stemNumber: number, label: number): void {
    this.singleWords.push({ word, label })
    setItem(this.isSingleWordLabel, stemNumber, 1)
  }

  /** Adds a word as a variant of the label. It is used only if the word is not a label itself. */
  addSingleWordVariant(word: string, stemNumber: number, label: number): void {
    this.singleWordVariants.push({ word, label: label + this.labels.kinds.length })
    setItem(this.isSingleWordLabel, stemNumber, 1)
  }

  /** Adds a pattern as a variant of the label. Has no effect if the pattern already belongs to a label or another variant. */
  addPatternVariant(pattern: readonly number[], label: number): void {
    this.addPattern(pattern, label + this.labels.kinds.length)
  }

  /** Records that punctuation precedes the word at this position of a label. */
  addPunctuationPosition(label: number, position: number): void {
    this.punctuationPositions[label]! |= 1 << position
  }

  /**
   * Adds a pattern of at least two stem numbers. If another label has the pattern, the two are recorded as labels with the same
   * stems.
   */
  addPattern(pattern: readonly number[], label: number): void {
    const { trie, firstNodes } = this
    const { kinds } = this.labels
    const firstStemNumber = pattern[0]!
    let node = firstStemNumber < firstNodes.size ? firstNodes.items[firstStemNumber]! : 0
    if (node === 0) {
      node = trie.addNode()
      setItem(firstNodes, firstStemNumber, node)
    }
    const lastPosition = pattern.length - 1
    for (let i = 1; i < lastPosition; i++) node = trie.ensureNode(trie.ensureEdge(node, pattern[i]!))
    const edge = trie.ensureEdge(node, pattern[lastPosition]!)
    // A name takes precedence over an alias. Among labels of the same kind, the first one added is kept.
    const existingLabel = trie.labelAt(edge)
    const takesPrecedence = existingLabel >= 0 && label < kinds.length && kinds[label]! < kinds[existingLabel]!
    if (existingLabel < 0 || takesPrecedence) trie.setLabel(edge, label)
    if (existingLabel >= 0 && existingLabel < kinds.length && label < kinds.length)
      this.mergeLabelsWithSameStems(takesPrecedence ? label : existingLabel, takesPrecedence ? existingLabel : label)
  }

  /** Records `other` and its labels with the same stems under `label`, which is in the trie. */
  private mergeLabelsWithSameStems(label: number, other: number): void {
    const { labelsWithSameStems, punctuationPositions } = this
    punctuationPositions[label]! |= punctuationPositions[other]!
    const { entryIndexOfLabel } = this.labels
    const otherLabels = labelsWithSameStems.get(other) ?? []
    labelsWithSameStems.delete(other)
    if (entryIndexOfLabel[label] !== entryIndexOfLabel[other]) otherLabels.push(other)
    if (otherLabels.length > 0)
      labelsWithSameStems.set(label, [...(labelsWithSameStems.get(label) ?? []), ...otherLabels])
  }

  /** Returns the label with this pattern of at least two stem numbers, or -1. Variants do not count. */
  labelWithPattern(pattern: readonly number[]): number {
    const { trie, firstNodes } = this
    let node = pattern[0]! < firstNodes.size ? firstNodes.items[pattern[0]!]! : 0
    let label = -1
    for (let i = 1; i < pattern.length; i++) {
      const edge = node === 0 ? -1 : trie.findEdge(node, pattern[i]!)
      if (edge < 0) return -1
      label = trie.labelAt(edge)
      node = trie.nodeAt(edge)
    }
    return label < this.labels.kinds.length ? label : -1
  }

  /** Returns the finished tables. Nothing can be added afterwards. */
  *complete() {
    const singleWordLabels = yield* this.buildSingleWordTable()
    yield* this.trie.complete()
    const stemNumberCount = this.labels.vocabulary.stemCount + this.extraStems.size
    return {
      forms: this.forms.complete(),
      singleWordLabels,
      firstNodes: toArrayOfSize(this.firstNodes, stemNumberCount),
      isSingleWordLabel: new Uint8Array(toArrayOfSize(this.isSingleWordLabel, stemNumberCount)),
      trie: this.trie,
      labelCount: this.labels.kinds.length,
      labelsWithSameStems: this.labelsWithSameStems,
      punctuatedNames: new PunctuatedNames(this.punctuationPositions),
    }
  }

  /**
   * Returns the table from word forms to labels of one word. The first label of a form is kept, so the order is: labels before
   * their other forms, names before aliases, and variants last.
   */
  private *buildSingleWordTable(): SlicedTask<FormTable> {
    const { kinds } = this.labels
    const table = new FormTable(this.singleWords.length * EXPECTED_SPELLINGS_PER_SINGLE_WORD)
    for (const formsOf of [(word: string) => [word], otherFormsOf]) {
      for (let kind = NAME; kind <= ALIAS; kind++) {
        for (let from = 0; from < this.singleWords.length; from += 2048) {
          for (const { word, label } of this.singleWords.slice(from, from + 2048))
            if (kinds[label] === kind) for (const form of formsOf(word)) table.add(form, label)
          yield
        }
      }
    }
    for (const { word, label } of this.singleWordVariants) table.add(word, label)
    return table.complete()
  }
}

function otherFormsOf(word: string): string[] {
  return isDevanagari(word) ? hindiInflections(word) : [...spellingVariants(word), ...misspellingsOf(word)]
}

function setItem(list: Int32List, at: number, value: number): void {
  while (list.size <= at) list.push(0)
  list.items[at] = value
}

function toArrayOfSize(list: Int32List, size: number): Int32Array {
  const items = new Int32Array(size)
  items.set(list.items.subarray(0, Math.min(size, list.size)))
  return items
}
