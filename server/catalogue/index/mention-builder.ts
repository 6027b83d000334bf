import { ALIAS, Growing, type Labels, NAME } from './labels.ts'
import { FormTable, Trie } from './mention-tables.ts'
import { AND, GO_ON, LINK, Mentions } from './mentions.ts'
import type { NearWords } from './near-words.ts'
import type { Stepwise } from './slices.ts'
import { isDevanagari, respellings } from './sounds.ts'
import { formsOf, spellingsOf, stemOf } from './stems.ts'
import { JOINED } from './tokens.ts'
import { WordTable } from './word-table.ts'

const LINKS = 'of the ka ki ke का की के'.split(' ')
const ANDS = 'and or aur ya और या एवं तथा'.split(' ')
const GOERS = 'on in at for with to from by as is are must should mein me par se ko ho में पर से को'.split(' ')

/** Longer labels are sentences; no text repeats them word by word. */
const LONGEST = 10
/** Longer names are not said the other way round: "truck loading" and "loading of trucks", "load trucks". */
const LONGEST_TURNED = 5
const OF_SOMETHING = /(tion|sion|ment|ance|repair|service)$/
/** How a word that ends a name may begin it instead: "load trucks", or only with an "of": "installation of pumps". */
const FREELY = 1
const WITH_OF = 2

/** Forms and spellings that words have on average, rather too many. */
const FORMS_OF_A_WORD = 3.5
const SPELLINGS_OF_A_WORD = 2

/** Labels worked on in one step. */
const STEP = 256

export function* buildMentions(labels: Labels, gaps: Uint8Array, nearWords: NearWords): Stepwise<Mentions> {
  const builder = new Builder(labels, gaps)
  const { words } = labels.vocabulary
  // A form that the catalogue itself uses is its own word before it is made of another.
  for (let from = 0; from < words.length; from += 2048) {
    builder.addWords(from, Math.min(words.length, from + 2048))
    yield
  }
  builder.addRoles()
  yield* builder.spellHindi(nearWords)
  for (let from = 0; from < words.length; from += STEP) {
    builder.addForms(from, Math.min(words.length, from + STEP))
    yield
  }
  const count = labels.kinds.length
  for (const turned of [false, true]) {
    for (let from = 0; from < count; from += STEP) {
      if (builder.trie.isFull(STEP * 2 * LONGEST)) yield* builder.trie.grow()
      const to = Math.min(count, from + STEP)
      if (turned) builder.addTurned(from, to)
      else builder.addLabels(from, to)
      yield
    }
  }
  return yield* builder.complete(nearWords)
}

interface Single {
  word: string
  label: number
}

/** A number of `Mentions` is that of the vocabulary's stem; words that are no part of the vocabulary have numbers behind these. */
class Builder {
  readonly trie = new Trie()
  private readonly labels: Labels
  private readonly gaps: Uint8Array
  private readonly forms: FormTable
  private readonly singles: Single[] = []
  private readonly shortened: Single[] = []
  private readonly strangers = new WordTable()
  private readonly firstNodes = new Growing()
  private readonly alone = new Growing()
  private readonly roles = new Map<number, number>()
  private readonly otherSpellings = new Map<number, string[]>()
  /** By word: FREELY, WITH_OF or 0. */
  private readonly turns: Uint8Array
  private readonly row: number[] = []

  constructor(labels: Labels, gaps: Uint8Array) {
    this.labels = labels
    this.gaps = gaps
    this.turns = new Uint8Array(labels.vocabulary.words.length)
    this.forms = new FormTable(labels.vocabulary.words.length * FORMS_OF_A_WORD)
  }

  addWords(from: number, to: number): void {
    const { words, stems } = this.labels.vocabulary
    for (let id = from; id < to; id++) {
      const word = words[id]!
      this.forms.add(word, stems[id]!)
      if (word.length > 3) this.turns[id] = word.endsWith('ing') ? FREELY : OF_SOMETHING.test(word) ? WITH_OF : 0
    }
  }

  addRoles(): void {
    for (const [role, words] of [
      [LINK, LINKS],
      [AND, ANDS],
      [GO_ON, GOERS],
    ] as const) {
      for (const word of words) {
        const number = this.numberOf(word)
        this.forms.add(word, number)
        this.roles.set(number, role)
      }
    }
  }

  /** A Latin word that is also there in Devanagari is Hindi, which has no one spelling in Latin letters. */
  *spellHindi(nearWords: NearWords): Stepwise<void> {
    const { vocabulary } = this.labels
    // Devanagari sorts behind Latin.
    for (let id = vocabulary.lowerBound('ऀ'); id < vocabulary.words.length; id++) {
      const hindi = vocabulary.words[id]!
      if (!isDevanagari(hindi)) break
      nearWords.soundsLike(hindi, (other, word) => {
        const strange = respellings(word).filter((spelling) => vocabulary.find(spelling) < 0)
        if (strange.length === 0) return
        this.otherSpellings.set(other, strange)
        for (const spelling of strange) this.forms.add(spelling, vocabulary.stems[other]!)
      })
      if (id % 64 === 63) yield
    }
  }

  addForms(from: number, to: number): void {
    const { words, stems } = this.labels.vocabulary
    for (let id = from; id < to; id++) for (const form of formsOf(words[id]!)) this.forms.add(form, stems[id]!)
  }

  addLabels(fromLabel: number, toLabel: number): void {
    const { vocabulary, wordStarts, words } = this.labels
    const { gaps, row } = this
    for (let label = fromLabel; label < toLabel; label++) {
      const from = wordStarts[label]!
      const to = wordStarts[label + 1]!
      if (to - from > LONGEST) continue
      row.length = 0
      let compound = false
      for (let at = from; at < to; at++) {
        row.push(vocabulary.stems[words[at]!]!)
        if (at > from && gaps[at] === JOINED) compound = true
      }
      if (row.length > 1) this.insert(label)
      else {
        this.addSingle(vocabulary.words[words[from]!]!, row[0]!, label)
        for (const spelling of this.otherSpellings.get(words[from]!) ?? []) this.addSingle(spelling, row[0]!, label)
      }
      if (row.length === 3) this.shorten(label, from)
      if (compound) this.joinCompounds(label, from, to)
    }
  }

  /** "welding ka kaam" is welding, whereas "bijli ka kaam" is not the bijli of "bijli, pani free". */
  private shorten(label: number, from: number): void {
    const { vocabulary, words, kinds } = this.labels
    const word = vocabulary.words[words[from]!]!
    if (vocabulary.words[words[from + 2]!] !== 'kaam' || !word.endsWith('ing')) return
    this.shortened.push({ word, label: label + kinds.length })
    set(this.alone, vocabulary.stems[words[from]!]!, 1)
  }

  /** "e-commerce" is also written "ecommerce". */
  private joinCompounds(label: number, from: number, to: number): void {
    const { vocabulary, words } = this.labels
    const { gaps, row } = this
    row.length = 0
    let word = ''
    for (let at = from; at < to; at++) {
      word = vocabulary.words[words[at]!]!
      while (at + 1 < to && gaps[at + 1] === JOINED) word += vocabulary.words[words[++at]!]!
      const known = this.strangers.size
      const number = this.numberOf(word)
      this.forms.add(word, number)
      if (this.strangers.size > known) for (const form of formsOf(word)) this.forms.add(form, number)
      row.push(number)
    }
    if (row.length > 1) this.insert(label)
    else this.addSingle(word, row[0]!, label)
  }

  /** Adds names with their last word first; these have numbers behind those of all labels. */
  addTurned(fromLabel: number, toLabel: number): void {
    const { vocabulary, wordStarts, words, kinds } = this.labels
    const { turns, row } = this
    const of = this.numberOf('of')
    for (let label = fromLabel; label < toLabel; label++) {
      const from = wordStarts[label]!
      const last = wordStarts[label + 1]! - 1
      if (last <= from || last - from >= LONGEST_TURNED || turns[words[last]!] === 0) continue
      row.length = 0
      row.push(vocabulary.stems[words[last]!]!)
      if (turns[words[last]!] === WITH_OF) row.push(of)
      for (let at = from; at < last; at++) row.push(vocabulary.stems[words[at]!]!)
      this.insert(label + kinds.length)
    }
  }

  *complete(nearWords: NearWords): Stepwise<Mentions> {
    const singles = yield* this.tabulate()
    const size = this.labels.vocabulary.stemCount + this.strangers.size
    const roles = new Uint8Array(size)
    for (const [number, role] of this.roles) roles[number] = role
    const tables = {
      forms: this.forms.complete(),
      singles,
      firstNodes: resized(this.firstNodes, size),
      alone: new Uint8Array(resized(this.alone, size)),
      roles,
      trie: this.trie,
    }
    return new Mentions(tables, nearWords)
  }

  /** Labels of a single word by the word, names before aliases, and words as they are before their plurals. */
  private *tabulate(): Stepwise<FormTable> {
    const { kinds } = this.labels
    const table = new FormTable(this.singles.length * SPELLINGS_OF_A_WORD)
    for (const spell of [(word: string) => [word], spellingsOf]) {
      for (let kind = NAME; kind <= ALIAS; kind++) {
        for (let from = 0; from < this.singles.length; from += 2048) {
          for (const { word, label } of this.singles.slice(from, from + 2048))
            if (kinds[label] === kind) for (const form of spell(word)) table.add(form, label)
          yield
        }
      }
    }
    for (const { word, label } of this.shortened) table.add(word, label)
    return table.complete()
  }

  /** The number of a word, known to the catalogue or not. */
  private numberOf(word: string): number {
    const { vocabulary } = this.labels
    const stem = stemOf(word)
    const known = vocabulary.findStem(stem)
    return known >= 0 ? known : vocabulary.stemCount + this.strangers.addWord(stem)
  }

  private addSingle(word: string, number: number, label: number): void {
    this.singles.push({ word, label })
    set(this.alone, number, 1)
  }

  private insert(label: number): void {
    const { row, trie, firstNodes } = this
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
    if (known < 0 || (label < kinds.length && kinds[label]! < kinds[known]!)) trie.setLabel(slot, label)
  }
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
