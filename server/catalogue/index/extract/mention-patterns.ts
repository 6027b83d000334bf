import { ALIAS, type Labels, NAME } from '../labels/labels.ts'
import { spellingVariants, stemOf } from '../lexicon/stems.ts'
import { hindiInflections, misspellingsOf } from '../lexicon/word-forms.ts'
import { Int32List } from '../text/int32-list.ts'
import { isDevanagari } from '../text/phonetics.ts'
import type { SlicedTask } from '../text/time-slicing.ts'
import { WordTable } from '../text/word-table.ts'
import { FormTable, Trie } from './mention-tables.ts'
import { PunctuatedNames } from './punctuated-names.ts'

/** Initial capacities, from catalogues so far: forms per word, trie edges per word of a label, spellings per single-word label. */
const FORMS_PER_WORD = 3.5
const EDGES_PER_LABEL_WORD = 0.8
const SPELLINGS_PER_SINGLE_WORD = 2

interface SingleWord {
  word: string
  label: number
}

/**
 * The tables of `MentionFinder` while they are built: patterns (sequences of word numbers) and single words that mean a
 * label. The number of a word is that of its stem in the vocabulary; stems outside the vocabulary have numbers after those. A
 * label found through a variant is stored as its number plus the number of labels.
 */
export class MentionPatterns {
  readonly trie: Trie
  readonly forms: FormTable
  private readonly labels: Labels
  private readonly singleWords: SingleWord[] = []
  private readonly singleWordVariants: SingleWord[] = []
  private readonly extraStems = new WordTable()
  private readonly firstNodes = new Int32List()
  private readonly isSingleWordLabel = new Int32List()
  /** Labels with the same word numbers, such as "stress test" and "stress testing", by the one that owns the pattern. */
  private readonly labelsWithSameStems = new Map<number, number[]>()
  private readonly signPositions: Uint16Array

  constructor(labels: Labels) {
    this.labels = labels
    this.signPositions = new Uint16Array(labels.kinds.length)
    this.trie = new Trie(labels.words.length * EDGES_PER_LABEL_WORD)
    this.forms = new FormTable(labels.vocabulary.words.length * FORMS_PER_WORD)
  }

  /** Returns the number of a word, which need not be in the catalogue. */
  numberOf(word: string): number {
    const { vocabulary } = this.labels
    const stem = stemOf(word)
    const existingStem = vocabulary.findStem(stem)
    return existingStem >= 0 ? existingStem : vocabulary.stemCount + this.extraStems.addWord(stem)
  }

  /** Returns the number of a word and adds the word to the forms that are recognised in a text. */
  addForm(word: string): number {
    const number = this.numberOf(word)
    this.forms.add(word, number)
    return number
  }

  get extraStemCount(): number {
    return this.extraStems.size
  }

  addSingleWord(word: string, number: number, label: number): void {
    this.singleWords.push({ word, label })
    setItem(this.isSingleWordLabel, number, 1)
  }

  /** Adds a word that means a label unless the word is a label itself. */
  addSingleWordVariant(word: string, number: number, label: number): void {
    this.singleWordVariants.push({ word, label: label + this.labels.kinds.length })
    setItem(this.isSingleWordLabel, number, 1)
  }

  /** Adds a pattern that means a label unless the pattern is a label itself. */
  addPatternVariant(pattern: readonly number[], label: number): void {
    this.addPattern(pattern, label + this.labels.kinds.length)
  }

  /** Records that a punctuation sign precedes a word of a label. */
  addSign(label: number, position: number): void {
    this.signPositions[label]! |= 1 << position
  }

  addPattern(pattern: readonly number[], label: number): void {
    const { trie, firstNodes } = this
    const { kinds } = this.labels
    const firstNumber = pattern[0]!
    let node = firstNumber < firstNodes.size ? firstNodes.items[firstNumber]! : 0
    if (node === 0) {
      node = trie.newNode()
      setItem(firstNodes, firstNumber, node)
    }
    const lastPosition = pattern.length - 1
    for (let i = 1; i < lastPosition; i++) node = trie.ensureNode(trie.ensureEdge(node, pattern[i]!))
    const edge = trie.ensureEdge(node, pattern[lastPosition]!)
    // A name takes precedence over another skill's alias, and a lower number over a higher one.
    const existingLabel = trie.labelAt(edge)
    const takesPrecedence = existingLabel >= 0 && label < kinds.length && kinds[label]! < kinds[existingLabel]!
    if (existingLabel < 0 || takesPrecedence) trie.setLabel(edge, label)
    if (existingLabel >= 0 && existingLabel < kinds.length && label < kinds.length)
      this.mergeLabelsWithSameStems(takesPrecedence ? label : existingLabel, takesPrecedence ? existingLabel : label)
  }

  private mergeLabelsWithSameStems(label: number, other: number): void {
    const { labelsWithSameStems, signPositions } = this
    signPositions[label]! |= signPositions[other]!
    const { entryOfLabel } = this.labels
    const otherLabels = labelsWithSameStems.get(other) ?? []
    labelsWithSameStems.delete(other)
    if (entryOfLabel[label] !== entryOfLabel[other]) otherLabels.push(other)
    if (otherLabels.length > 0)
      labelsWithSameStems.set(label, [...(labelsWithSameStems.get(label) ?? []), ...otherLabels])
  }

  /** Returns the label that owns a pattern of at least two numbers, or -1. */
  labelOf(pattern: readonly number[]): number {
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

  *complete() {
    const singleWordLabels = yield* this.buildSingleWordTable()
    yield* this.trie.complete()
    const numberCount = this.labels.vocabulary.stemCount + this.extraStems.size
    return {
      forms: this.forms.complete(),
      singleWordLabels,
      firstNodes: toArrayOfSize(this.firstNodes, numberCount),
      isSingleWordLabel: new Uint8Array(toArrayOfSize(this.isSingleWordLabel, numberCount)),
      trie: this.trie,
      labelCount: this.labels.kinds.length,
      labelsWithSameStems: this.labelsWithSameStems,
      punctuatedNames: new PunctuatedNames(this.signPositions),
    }
  }

  /** Maps words to single-word labels: names before aliases, and the words themselves before their other forms. */
  private *buildSingleWordTable(): SlicedTask<FormTable> {
    const { kinds } = this.labels
    const table = new FormTable(this.singleWords.length * SPELLINGS_PER_SINGLE_WORD)
    for (const formsOf of [(word: string) => [word], otherForms]) {
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

function otherForms(word: string): string[] {
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
