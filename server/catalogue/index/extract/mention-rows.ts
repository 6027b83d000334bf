import { ALIAS, Growing, type Labels, NAME } from '../labels/labels.ts'
import { misspellingsOf } from '../lexicon/misspellings.ts'
import { isDevanagari } from '../text/sounds.ts'
import { spellingsOf, stemOf } from '../text/stems.ts'
import type { Stepwise } from '../text/time-slicing.ts'
import { hindiForms } from '../text/word-forms.ts'
import { WordTable } from '../text/word-table.ts'
import { FormTable, Trie } from './mention-tables.ts'
import { MentionWalls } from './punctuated-names.ts'

/** Forms and spellings that words have on average, rather too many. */
const FORMS_OF_A_WORD = 3.5
/** Edges of the trie for a word of a label, as catalogues have them. */
const EDGES_OF_A_WORD = 0.8
const SPELLINGS_OF_A_WORD = 2

interface Single {
  word: string
  label: number
}

/**
 * The tables of `Mentions` while they grow: rows of numbers that are a label, and single words that are one. A number is that of
 * the vocabulary's stem; words that are no part of the vocabulary have numbers behind these.
 */
export class MentionRows {
  readonly trie: Trie
  readonly forms: FormTable
  private readonly labels: Labels
  private readonly singles: Single[] = []
  private readonly variants: Single[] = []
  private readonly strangers = new WordTable()
  private readonly firstNodes = new Growing()
  private readonly alone = new Growing()
  /** Of labels with the same numbers, such as "stress test" and "stress testing", those behind the one that has the row. */
  private readonly alike = new Map<number, number[]>()
  private readonly walls: Uint16Array

  constructor(labels: Labels) {
    this.labels = labels
    this.walls = new Uint16Array(labels.kinds.length)
    this.trie = new Trie(labels.words.length * EDGES_OF_A_WORD)
    this.forms = new FormTable(labels.vocabulary.words.length * FORMS_OF_A_WORD)
  }

  /** The number of a word, known to the catalogue or not. */
  numberOf(word: string): number {
    const { vocabulary } = this.labels
    const stem = stemOf(word)
    const known = vocabulary.findStem(stem)
    return known >= 0 ? known : vocabulary.stemCount + this.strangers.addWord(stem)
  }

  /** The number of a word that a text may hold. */
  learn(word: string): number {
    const number = this.numberOf(word)
    this.forms.add(word, number)
    return number
  }

  /** Numbers given so far to words that are no part of the vocabulary. */
  get strangerCount(): number {
    return this.strangers.size
  }

  addSingle(word: string, number: number, label: number): void {
    this.singles.push({ word, label })
    set(this.alone, number, 1)
  }

  /** Adds a word that stands for a label unless it is one itself. */
  addSingleVariant(word: string, number: number, label: number): void {
    this.variants.push({ word, label: label + this.labels.kinds.length })
    set(this.alone, number, 1)
  }

  /** Adds a row that stands for a label unless it is one itself; the label has its number behind those of all labels. */
  insertVariant(row: readonly number[], label: number): void {
    this.insert(row, label + this.labels.kinds.length)
  }

  /** Tells that a sign stands before a word of a label, in its place from the first. */
  addWall(label: number, place: number): void {
    this.walls[label]! |= 1 << place
  }

  insert(row: readonly number[], label: number): void {
    const { trie, firstNodes } = this
    const { kinds } = this.labels
    const first = row[0]!
    let node = first < firstNodes.size ? firstNodes.items[first]! : 0
    if (node === 0) {
      node = trie.newNode()
      set(firstNodes, first, node)
    }
    const last = row.length - 1
    for (let i = 1; i < last; i++) node = trie.openNode(trie.extend(node, row[i]!))
    const slot = trie.extend(node, row[last]!)
    // A skill's own name goes before another skill's alias, and the lower number before the higher.
    const known = trie.labelAt(slot)
    const wins = known >= 0 && label < kinds.length && kinds[label]! < kinds[known]!
    if (known < 0 || wins) trie.setLabel(slot, label)
    if (known >= 0 && known < kinds.length && label < kinds.length)
      this.join(wins ? label : known, wins ? known : label)
  }

  private join(label: number, other: number): void {
    const { alike, walls } = this
    walls[label]! |= walls[other]!
    const { entryOf } = this.labels
    const others = alike.get(other) ?? []
    alike.delete(other)
    if (entryOf[label] !== entryOf[other]) others.push(other)
    if (others.length > 0) alike.set(label, [...(alike.get(label) ?? []), ...others])
  }

  /** The label that a row of at least two numbers is, or -1. */
  labelOf(row: readonly number[]): number {
    const { trie, firstNodes } = this
    let node = row[0]! < firstNodes.size ? firstNodes.items[row[0]!]! : 0
    let label = -1
    for (let i = 1; i < row.length; i++) {
      const slot = node === 0 ? -1 : trie.step(node, row[i]!)
      if (slot < 0) return -1
      label = trie.labelAt(slot)
      node = trie.nodeAt(slot)
    }
    return label < this.labels.kinds.length ? label : -1
  }

  *complete() {
    const singles = yield* this.tabulate()
    yield* this.trie.complete()
    const size = this.labels.vocabulary.stemCount + this.strangers.size
    return {
      forms: this.forms.complete(),
      singles,
      firstNodes: resized(this.firstNodes, size),
      alone: new Uint8Array(resized(this.alone, size)),
      trie: this.trie,
      labelCount: this.labels.kinds.length,
      alike: this.alike,
      walls: new MentionWalls(this.walls),
    }
  }

  /** Labels of a single word by the word, names before aliases, and words as they are before their other forms. */
  private *tabulate(): Stepwise<FormTable> {
    const { kinds } = this.labels
    const table = new FormTable(this.singles.length * SPELLINGS_OF_A_WORD)
    for (const spell of [(word: string) => [word], otherForms]) {
      for (let kind = NAME; kind <= ALIAS; kind++) {
        for (let from = 0; from < this.singles.length; from += 2048) {
          for (const { word, label } of this.singles.slice(from, from + 2048))
            if (kinds[label] === kind) for (const form of spell(word)) table.add(form, label)
          yield
        }
      }
    }
    for (const { word, label } of this.variants) table.add(word, label)
    return table.complete()
  }
}

function otherForms(word: string): string[] {
  return isDevanagari(word) ? hindiForms(word) : [...spellingsOf(word), ...misspellingsOf(word)]
}

function set(list: Growing, at: number, value: number): void {
  while (list.size <= at) list.push(0)
  list.items[at] = value
}

function resized(list: Growing, size: number): Int32Array {
  const items = new Int32Array(size)
  items.set(list.items.subarray(0, Math.min(size, list.size)))
  return items
}
