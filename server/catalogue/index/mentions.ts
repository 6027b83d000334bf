import { ALIAS, type Labels, NAME } from './labels.ts'
import { FormTable, Trie } from './mention-tables.ts'
import type { NearWords } from './near-words.ts'
import type { Stepwise } from './slices.ts'
import { respellings } from './sounds.ts'
import { formsOf, spellingsOf, stemOf } from './stems.ts'
import { APART, checkOf, checkOn, hashOf, hashOn, JOINED, NEXT, type Tokens } from './tokens.ts'
import { WordTable } from './word-table.ts'

/**
 * Finds the labels of a catalogue in a text. Every form a word may take leads to one number, so a text is first a
 * row of numbers; a trie over the numbers of the labels, flat in one array, is then walked from every word that begins
 * a label. A word of the text costs one table lookup, and one probe a step. Labels of a single word stand in a table
 * of their own, where "drives" is not "driving".
 */
export class Mentions {
  private readonly forms: FormTable
  private readonly singles: FormTable
  /** By number: the trie node after it, or 0, and whether a label of a single word may have it. */
  private readonly firstNodes: Int32Array
  private readonly alone: Uint8Array
  private readonly trie: Trie
  private readonly nearWords: NearWords
  private row = new Int32Array(0)
  private compounds = new Int32Array(0)

  constructor(
    tables: { forms: FormTable; singles: FormTable; firstNodes: Int32Array; alone: Uint8Array; trie: Trie },
    nearWords: NearWords,
  ) {
    this.forms = tables.forms
    this.singles = tables.singles
    this.firstNodes = tables.firstNodes
    this.alone = tables.alone
    this.trie = tables.trie
    this.nearWords = nearWords
  }

  /** Calls `found` with the longest label that begins at each word: its first word and the one behind its last. */
  each(tokens: Tokens, found: (label: number, from: number, to: number) => void): void {
    this.number(tokens)
    const { row, compounds, firstNodes, alone, singles, trie } = this
    const { count, hashes, checks } = tokens
    for (let from = 0; from < count; from++) {
      const number = row[from]!
      if (number >= 0) {
        const node = firstNodes[number]!
        const label = alone[number] ? singles.find(hashes[from]!, checks[from]!) : -1
        if (node !== 0 && from + 1 < count && (trie.mayStep(node, row[from + 1]!) || compounds[from + 1]! >= 0))
          this.walk(tokens, from, from + 1, node, label, found)
        else if (label >= 0) found(label, from, from + 1)
      }
      const compound = compounds[from]!
      if (compound < 0) continue
      const label = alone[compound] ? singles.find(joinedHash(tokens, from), joinedCheck(tokens, from)) : -1
      this.walk(tokens, from, from + 2, firstNodes[compound]!, label, found)
    }
  }

  private walk(
    tokens: Tokens,
    from: number,
    next: number,
    node: number,
    label: number,
    found: (label: number, from: number, to: number) => void,
  ): void {
    const { row, compounds, trie } = this
    const { gaps, count } = tokens
    let best = label
    let end = next
    let at = next
    while (node !== 0 && at < count && gaps[at] !== APART) {
      let slot = row[at]! >= 0 ? trie.step(node, row[at]!) : -1
      let taken = 1
      if (slot < 0 && compounds[at]! >= 0) {
        slot = trie.step(node, compounds[at]!)
        taken = 2
      }
      if (slot < 0) break
      at += taken
      node = trie.nodeAt(slot)
      if (trie.labelAt(slot) >= 0) {
        best = trie.labelAt(slot)
        end = at
      }
    }
    if (best >= 0) found(best, from, end)
  }

  /** Turns words into numbers; two words joined by a hyphen may also be known as one. */
  private number(tokens: Tokens): void {
    const { forms } = this
    const { count, hashes, checks, chars, charStarts, gaps } = tokens
    if (this.row.length < count) {
      this.row = new Int32Array(tokens.starts.length)
      this.compounds = new Int32Array(tokens.starts.length)
    }
    const { row, compounds } = this
    let strange = 0
    for (let i = 0; i < count; i++) {
      let number = forms.find(hashes[i]!, checks[i]!)
      if (number < 0 && isDevanagari(chars[charStarts[i]!]!) && strange++ < MOST_STRANGE)
        number = this.numberBySound(tokens, i)
      row[i] = number
      compounds[i] = -1
      if (i > 0 && (gaps[i] === JOINED || gaps[i] === NEXT))
        compounds[i - 1] = forms.find(joinedHash(tokens, i - 1), joinedCheck(tokens, i - 1))
    }
  }

  /** Takes a Hindi word for one that sounds the same: हिन्दी for हिंदी, वैल्डिंग for welding. */
  private numberBySound(tokens: Tokens, at: number): number {
    const { hashes, checks } = tokens
    let number = -1
    this.nearWords.soundsLike(tokens.word(at), (_, other) => {
      // Short Latin words are abbreviations: सहित is not CIT, nor आवास AWS.
      if (number >= 0 || (other.length <= SHORTEST_BY_SOUND && !isDevanagari(other.charCodeAt(0)))) return
      hashes[at] = hashOf(other)
      checks[at] = checkOf(other)
      number = this.forms.find(hashes[at]!, checks[at]!)
    })
    return number
  }
}

/** Latin words up to this length are not taken for what a Hindi word sounds like. */
const SHORTEST_BY_SOUND = 3

/** How many unknown Hindi words of one text are tried by their sound. */
const MOST_STRANGE = 1000

function joinedHash({ hashes, chars, charStarts }: Tokens, at: number): number {
  return hashOn(hashes[at]!, chars, charStarts[at + 1]!, charStarts[at + 2]!)
}

function joinedCheck({ checks, chars, charStarts }: Tokens, at: number): number {
  return checkOn(checks[at]!, chars, charStarts[at + 1]!, charStarts[at + 2]!)
}

function isDevanagari(unit: number): boolean {
  return unit >= 0x900 && unit < 0x980
}

/** Longer labels are sentences; no text repeats them word by word. */
const LONGEST = 10

export function* buildMentions(labels: Labels, gaps: Uint8Array, nearWords: NearWords): Stepwise<Mentions> {
  const { vocabulary, wordStarts, words, kinds } = labels
  const stems = new WordTable()
  const forms = new FormTable()
  const single: { word: string; label: number }[] = []
  const alone: number[] = []
  const numberOf = new Int32Array(vocabulary.words.length)
  // A form that the catalogue itself uses is its own word before it is made of another.
  for (let id = 0; id < vocabulary.words.length; id++) {
    numberOf[id] = stems.addWord(vocabulary.stem(vocabulary.stems[id]!))
    forms.add(vocabulary.words[id]!, numberOf[id]!)
    if (id % 1024 === 1023) yield
  }
  const otherSpellings = yield* spellHindi(labels, nearWords)
  for (const [id, spellings] of otherSpellings) for (const spelling of spellings) forms.add(spelling, numberOf[id]!)
  yield
  for (let id = 0; id < vocabulary.words.length; id++) {
    for (const form of formsOf(vocabulary.words[id]!)) forms.add(form, numberOf[id]!)
    if (id % 256 === 255) yield
  }

  const trie = new Trie()
  const firstNodes: number[] = []
  const insert = (row: number[], label: number) => {
    firstNodes[row[0]!] ||= trie.newNode()
    let node = firstNodes[row[0]!]!
    for (let i = 1; ; i++) {
      const slot = trie.extend(node, row[i]!)
      if (i < row.length - 1) node = trie.openNode(slot)
      else {
        // A skill's own name goes before another skill's alias, and the lower number before the higher.
        const known = trie.labelAt(slot)
        if (known < 0 || kinds[label]! < kinds[known]!) trie.setLabel(slot, label)
        return
      }
    }
  }
  const addSingle = (word: string, number: number, label: number) => {
    single.push({ word, label })
    alone[number] = 1
  }
  const row: number[] = []
  for (let label = 0; label < kinds.length; label++) {
    const from = wordStarts[label]!
    const to = wordStarts[label + 1]!
    if (label % 1024 === 1023) yield
    if (to - from > LONGEST) continue
    if (trie.isFull(2 * LONGEST)) yield* trie.grow()
    row.length = 0
    let compound = false
    for (let at = from; at < to; at++) {
      row.push(numberOf[words[at]!]!)
      if (at > from && gaps[at] === JOINED) compound = true
    }
    if (row.length > 1) insert(row, label)
    else {
      addSingle(vocabulary.words[words[from]!]!, row[0]!, label)
      for (const spelling of otherSpellings.get(words[from]!) ?? []) addSingle(spelling, row[0]!, label)
    }
    if (!compound) continue
    // "e-commerce" is also written "ecommerce".
    row.length = 0
    let word = ''
    for (let at = from; at < to; at++) {
      word = vocabulary.words[words[at]!]!
      while (at + 1 < to && gaps[at + 1] === JOINED) word += vocabulary.words[words[++at]!]!
      const number = stems.addWord(stemOf(word))
      for (const form of [word, ...formsOf(word)]) forms.add(form, number)
      row.push(number)
    }
    if (row.length > 1) insert(row, label)
    else addSingle(word, row[0]!, label)
  }
  const singles = yield* tabulate(single, kinds)
  const tables = {
    forms: forms.complete(),
    singles,
    firstNodes: Int32Array.from({ length: stems.size }, (_, number) => firstNodes[number] ?? 0),
    alone: Uint8Array.from({ length: stems.size }, (_, number) => alone[number] ?? 0),
    trie,
  }
  return new Mentions(tables, nearWords)
}

/** Labels of a single word by the word, names before aliases, and words as they are before their plurals. */
function* tabulate(single: { word: string; label: number }[], kinds: Uint8Array): Stepwise<FormTable> {
  const singles = new FormTable()
  let looked = 0
  for (const spell of [(word: string) => [word], spellingsOf]) {
    for (let kind = NAME; kind <= ALIAS; kind++) {
      for (const { word, label } of single) {
        if (kinds[label] === kind) for (const form of spell(word)) singles.add(form, label)
        if (++looked % 2048 === 0) yield
      }
    }
  }
  return singles.complete()
}

/** A Latin word that is also there in Devanagari is Hindi, which has no one spelling in Latin letters. */
function* spellHindi({ vocabulary }: Labels, nearWords: NearWords): Stepwise<Map<number, string[]>> {
  const spellings = new Map<number, string[]>()
  for (let id = 0; id < vocabulary.words.length; id++) {
    if (!isDevanagari(vocabulary.words[id]!.charCodeAt(0))) continue
    nearWords.soundsLike(vocabulary.words[id]!, (other, word) => {
      const strange = respellings(word).filter((spelling) => vocabulary.find(spelling) < 0)
      if (strange.length > 0) spellings.set(other, strange)
    })
    if (id % 64 === 63) yield
  }
  return spellings
}
