import { ALIAS, type Labels, NAME } from '../labels/labels.ts'
import type { Postings } from '../labels/postings.ts'
import { everydayWords } from '../lexicon/everyday-words.ts'
import { shortForms } from '../lexicon/short-forms.ts'
import { stopWords } from '../lexicon/thesaurus.ts'
import { isDevanagari } from '../text/sounds.ts'
import { doersOf, hindiForms, hindiWordsOf, romanisedForms } from '../text/word-forms.ts'
import type { MentionRows } from './mention-rows.ts'

/** Longer names are not said in other ways: "truck loading" and "loading of trucks", "load trucks". */
const LONGEST = 5
const OF_SOMETHING = /(tion|sion|ment|ance|repair|service)$/
/** How a word that ends a name may begin it instead: "load trucks", or only with an "of": "installation of pumps". */
const FREELY = 1
const WITH_OF = 2

/** What is done, behind a word that alone may stand for it; a laptop alone is not its repair. */
const ACTIVITIES = new Set(
  `operation making cooking sewing stitching embroidery welding cultivation farming programming printing weaving grinding machining
  moulding coating painting cutting`.split(/\s+/),
)
const SHORTEST_TELLING = 5

/** Shorter ones are too often something else: 6 pm. */
const SHORTEST_SAID = 3
/** What employers say of themselves as often as of the person they look for. */
const OF_EMPLOYERS: ReadonlySet<string> = new Set([
  ...'innovative ambitious committed dedicated driven initiative reporting people training flexible responsible'.split(
    ' ',
  ),
  'international environment',
])

/** Shorter words are not parted, into shorter parts neither. */
const SHORTEST_PARTED = 8
const SHORTEST_PART = 3

/** What people write in digits: "2-wheeler mechanic". */
const DIGITS = new Map([
  ['two', '2'],
  ['three', '3'],
  ['four', '4'],
])

/** Other ways to say a label that is not in the catalogue in these words. What is a label itself stays that label. */
export class MentionVariants {
  private readonly labels: Labels
  private readonly postings: Postings
  private readonly rows: MentionRows
  /** By word: FREELY, WITH_OF or 0. */
  private readonly turns: Uint8Array
  private readonly of: number
  /** By word: the numbers that may stand in its place, "fork lift" for forklift. */
  private readonly others = new Map<number, number[]>()
  private inOthers = false
  private readonly row: number[] = []

  constructor(labels: Labels, postings: Postings, rows: MentionRows) {
    this.labels = labels
    this.postings = postings
    this.rows = rows
    this.turns = new Uint8Array(labels.vocabulary.words.length)
    this.of = rows.numberOf('of')
  }

  readWords(from: number, to: number): void {
    const { words } = this.labels.vocabulary
    for (let id = from; id < to; id++) {
      const word = words[id]!
      const others = this.otherwise(word)
      if (others) this.others.set(id, others)
      if (word.length > 3) this.turns[id] = word.endsWith('ing') ? FREELY : OF_SOMETHING.test(word) ? WITH_OF : 0
    }
  }

  add(fromLabel: number, toLabel: number): void {
    const { wordStarts } = this.labels
    for (let label = fromLabel; label < toLabel; label++) {
      const from = wordStarts[label]!
      const to = wordStarts[label + 1]!
      if (to - from > LONGEST) continue
      if (to - from === 1) this.addParted(label, from)
      else {
        this.addTelling(label, from, to)
        this.addHalves(label, from, to)
        this.addDoers(label, from, to)
        this.addTurned(label, from, to)
        this.addHindi(label, from, to)
        this.addPlural(label, from, to)
        this.addOtherwise(label, from, to)
      }
    }
  }

  /** A word in digits or in two words, where the catalogue has both. */
  private otherwise(word: string): number[] | undefined {
    const digit = DIGITS.get(word)
    if (digit) return [this.rows.learn(digit)]
    if (word.length < SHORTEST_PARTED || isDevanagari(word)) return undefined
    const { vocabulary } = this.labels
    for (let cut = SHORTEST_PART; cut <= word.length - SHORTEST_PART; cut++)
      if (vocabulary.find(word.slice(0, cut)) >= 0 && vocabulary.find(word.slice(cut)) >= 0)
        return [this.rows.numberOf(word.slice(0, cut)), this.rows.numberOf(word.slice(cut))]
    return undefined
  }

  /** "team player" for "work in teams", where the catalogue has that. */
  addSetPhrases(): void {
    for (const [said, meant] of shortForms) {
      if (said.length < SHORTEST_SAID || everydayWords.has(said) || OF_EMPLOYERS.has(said)) continue
      const full = meant.split(' ')
      const label = full.length > 1 ? this.rows.labelOf(full.map((word) => this.rows.numberOf(word))) : -1
      if (label < 0) continue
      const words = said.split(' ')
      const row = words.map((word) => this.rows.learn(word))
      if (row.length > 1) this.rows.insertVariant(row, label)
      else this.rows.addSingleVariant(words[0]!, row[0]!, label)
    }
  }

  /** "bookkeeping" is also written "book keeping", राजमिस्त्री also राज मिस्त्री. */
  private addParted(label: number, at: number): void {
    const { vocabulary, words } = this.labels
    const word = vocabulary.words[words[at]!]!
    if (word.length < SHORTEST_PARTED) return
    const hindi = isDevanagari(word)
    for (let cut = SHORTEST_PART; cut <= word.length - SHORTEST_PART; cut++) {
      const right = word.slice(cut)
      if (vocabulary.find(right) < 0 || (hindi && !/^[अ-ह]/.test(right))) continue
      const left = word.slice(0, cut)
      if (hindi || vocabulary.find(left) >= 0)
        this.rows.insertVariant([this.rows.learn(left), this.rows.numberOf(right)], label)
    }
  }

  /** "tower crane" for tower crane operation, and "overlock" for overlock sewing where no other skill has that word. */
  private addTelling(label: number, from: number, to: number): void {
    const { vocabulary, words, kinds } = this.labels
    if (kinds[label] === ALIAS || !ACTIVITIES.has(vocabulary.words[words[to - 1]!]!)) return
    if (to - from > 2 && !stopWords.has(vocabulary.words[words[to - 2]!]!))
      this.rows.insertVariant(this.stemsOf(from, to - 1), label)
    if (to - from > 3 || (to - from === 3 && vocabulary.words[words[from + 1]!] !== 'machine')) return
    const id = words[from]!
    const word = vocabulary.words[id]!
    const skills = this.postings.starts[id + 1]! - this.postings.starts[id]!
    if (skills === 1 && word.length >= SHORTEST_TELLING && !everydayWords.has(word))
      this.rows.addSingleVariant(word, vocabulary.stems[id]!, label)
  }

  /** Of "Tap and mixer installation" tap installation, of "Die cutting and creasing" die cutting: half of what the name says. */
  private addHalves(label: number, from: number, to: number): void {
    const { vocabulary, words, kinds } = this.labels
    if (kinds[label] !== NAME || this.turns[words[to - 1]!] === 0) return
    let and = from + 1
    while (and < to && vocabulary.words[words[and]!] !== 'and') and++
    if (and >= to - 1) return
    const row = this.stemsOf(from, and)
    // "tap" needs the "installation" of the other half, "die cutting" nothing.
    if (this.turns[words[and - 1]!] === 0) row.push(vocabulary.stems[words[to - 1]!]!)
    if (row.length > 1) this.rows.insertVariant(row, label)
    if (to - and > 2) this.rows.insertVariant(this.stemsOf(and + 1, to), label)
  }

  /** "two wheeler mechanics", where "mechanics" is a word of its own for the sake of fluid mechanics. */
  private addPlural(label: number, from: number, to: number): void {
    const { vocabulary, words } = this.labels
    const last = vocabulary.words[words[to - 1]!]!
    const plural = last.endsWith('ic') ? vocabulary.find(`${last}s`) : -1
    if (plural < 0) return
    const row = this.stemsOf(from, to - 1)
    row.push(vocabulary.stems[plural]!)
    this.rows.insertVariant(row, label)
  }

  /** "fork lift operator" for forklift operation, "2 wheeler repair" for two-wheeler repair. */
  private addOtherwise(label: number, from: number, to: number): void {
    const { words } = this.labels
    let at = from
    while (at < to && !this.others.has(words[at]!)) at++
    if (at === to) return
    this.inOthers = true
    this.rows.insertVariant(this.stemsOf(from, to), label)
    this.addDoers(label, from, to)
    this.addPlural(label, from, to)
    this.inOthers = false
  }

  /** "forklift operator" for forklift operation. */
  private addDoers(label: number, from: number, to: number): void {
    const { vocabulary, words } = this.labels
    for (const doer of doersOf(vocabulary.words[words[to - 1]!]!)) {
      const row = this.stemsOf(from, to - 1)
      row.push(this.rows.learn(doer))
      this.rows.insertVariant(row, label)
    }
  }

  /** "forklift chalana" for forklift operation. */
  private addHindi(label: number, from: number, to: number): void {
    const { vocabulary, words } = this.labels
    for (const hindi of hindiWordsOf(vocabulary.words[words[to - 1]!]!)) {
      const row = this.stemsOf(from, to - 1)
      const number = this.rows.learn(hindi)
      for (const form of isDevanagari(hindi) ? hindiForms(hindi) : romanisedForms(hindi))
        this.rows.forms.add(form, number)
      row.push(number)
      this.rows.insertVariant(row, label)
    }
  }

  /** "loading of trucks" for truck loading. */
  private addTurned(label: number, from: number, to: number): void {
    const { vocabulary, words } = this.labels
    const last = words[to - 1]!
    if (this.turns[last] === 0) return
    const row = this.stemsOf(from, to - 1)
    if (this.turns[last] === WITH_OF) row.unshift(this.of)
    row.unshift(vocabulary.stems[last]!)
    this.rows.insertVariant(row, label)
  }

  private stemsOf(from: number, to: number): number[] {
    const { vocabulary, words } = this.labels
    this.row.length = 0
    for (let at = from; at < to; at++) {
      const others = this.inOthers ? this.others.get(words[at]!) : undefined
      if (others) this.row.push(...others)
      else this.row.push(vocabulary.stems[words[at]!]!)
    }
    return this.row
  }
}
