import type { Labels } from '../labels/labels.ts'
import type { NearWords } from '../labels/near-words.ts'
import type { Postings } from '../labels/postings.ts'
import { misspellingsOf } from '../lexicon/misspellings.ts'
import { isDevanagari, respellings } from '../text/sounds.ts'
import { formsOf } from '../text/stems.ts'
import type { Stepwise } from '../text/time-slicing.ts'
import { APART, JOINED } from '../text/tokens.ts'
import { hindiForms, romanisedForms } from '../text/word-forms.ts'
import { MentionRows } from './mention-rows.ts'
import { MentionVariants } from './mention-variants.ts'
import { AND, GO_ON, LINK, Mentions } from './mentions.ts'

const LINKS = 'of the ka ki ke का की के'.split(' ')
const ANDS = 'and or aur ya और या एवं तथा'.split(' ')
const GOERS = 'on in at for with to from by as is are must should mein me par se ko ho में पर से को'.split(' ')

/** Words that people join to the one before them, or not. */
const JOINING = new Set(
  'work works working worker keeping keeper man men maker making proofing washing house cut up'.split(' '),
)

/** Longer labels are sentences; no text repeats them word by word. */
const LONGEST = 10

/** Labels worked on in one step, and the most edges that a label and its variants may need. */
const STEP = 256
const MOST_EDGES = 4 * LONGEST

export function* buildMentions(
  labels: Labels,
  gaps: Uint8Array,
  postings: Postings,
  nearWords: NearWords,
): Stepwise<Mentions> {
  const rows = new MentionRows(labels)
  const builder = new Builder(labels, gaps, rows)
  const variants = new MentionVariants(labels, postings, rows)
  const { words } = labels.vocabulary
  // A form that the catalogue itself uses is its own word before it is made of another.
  for (let from = 0; from < words.length; from += 2048) {
    builder.addWords(from, Math.min(words.length, from + 2048))
    variants.readWords(from, Math.min(words.length, from + 2048))
    yield
  }
  builder.addRoles()
  yield* builder.spellHindi(nearWords)
  for (let from = 0; from < words.length; from += STEP) {
    builder.addForms(from, Math.min(words.length, from + STEP))
    yield
  }
  const count = labels.kinds.length
  for (const pass of [builder, variants]) {
    for (let from = 0; from < count; from += STEP) {
      if (rows.trie.isFull(STEP * MOST_EDGES)) yield* rows.trie.grow()
      pass.add(from, Math.min(count, from + STEP))
      yield
    }
  }
  variants.addSetPhrases()
  const tables = yield* rows.complete()
  return new Mentions({ ...tables, roles: builder.rolesOf(tables.alone.length) }, nearWords)
}

/** Adds the labels themselves, and the forms that their words take. */
class Builder {
  private readonly labels: Labels
  private readonly gaps: Uint8Array
  private readonly rows: MentionRows
  private readonly roles = new Map<number, number>()
  private readonly otherSpellings = new Map<number, string[]>()
  private readonly row: number[] = []

  constructor(labels: Labels, gaps: Uint8Array, rows: MentionRows) {
    this.labels = labels
    this.gaps = gaps
    this.rows = rows
  }

  addWords(from: number, to: number): void {
    const { words, stems } = this.labels.vocabulary
    for (let id = from; id < to; id++) this.rows.forms.add(words[id]!, stems[id]!)
  }

  addRoles(): void {
    for (const [role, words] of [
      [LINK, LINKS],
      [AND, ANDS],
      [GO_ON, GOERS],
    ] as const)
      for (const word of words) this.roles.set(this.rows.learn(word), role)
  }

  /** Each number's role, for so many numbers. */
  rolesOf(size: number): Uint8Array {
    const roles = new Uint8Array(size)
    for (const [number, role] of this.roles) roles[number] = role
    return roles
  }

  /** A Latin word that is also there in Devanagari is Hindi, which has no one spelling in Latin letters. */
  *spellHindi(nearWords: NearWords): Stepwise<void> {
    const { vocabulary } = this.labels
    const { forms } = this.rows
    // Devanagari sorts behind Latin.
    for (let id = vocabulary.lowerBound('ऀ'); id < vocabulary.words.length; id++) {
      const hindi = vocabulary.words[id]!
      if (!isDevanagari(hindi)) break
      for (const form of hindiForms(hindi)) forms.add(form, vocabulary.stems[id]!)
      nearWords.soundsLike(hindi, (other, word) => {
        for (const form of romanisedForms(word)) forms.add(form, vocabulary.stems[other]!)
        const strange = respellings(word).filter((spelling) => vocabulary.find(spelling) < 0)
        if (strange.length === 0) return
        this.otherSpellings.set(other, strange)
        for (const spelling of strange) forms.add(spelling, vocabulary.stems[other]!)
      })
      if (id % 64 === 63) yield
    }
  }

  addForms(from: number, to: number): void {
    const { words, stems } = this.labels.vocabulary
    const { forms } = this.rows
    for (let id = from; id < to; id++) {
      for (const form of formsOf(words[id]!)) forms.add(form, stems[id]!)
      for (const form of misspellingsOf(words[id]!)) forms.add(form, stems[id]!)
    }
  }

  add(fromLabel: number, toLabel: number): void {
    const { vocabulary, wordStarts, words } = this.labels
    const { gaps, row, rows } = this
    for (let label = fromLabel; label < toLabel; label++) {
      const from = wordStarts[label]!
      const to = wordStarts[label + 1]!
      if (to - from > LONGEST) continue
      row.length = 0
      let compound = false
      for (let at = from; at < to; at++) {
        row.push(vocabulary.stems[words[at]!]!)
        if (at > from && gaps[at] === JOINED) compound = true
        if (at > from && gaps[at] === APART) rows.addWall(label, at - from)
      }
      if (row.length > 1) rows.insert(row, label)
      else {
        rows.addSingle(vocabulary.words[words[from]!]!, row[0]!, label)
        for (const spelling of this.otherSpellings.get(words[from]!) ?? []) rows.addSingle(spelling, row[0]!, label)
      }
      if (row.length === 2) this.joinWords(label, from)
      if (row.length === 3) this.shorten(label, from)
      if (compound) this.joinCompounds(label, from, to)
    }
  }

  /** "welding ka kaam" is welding, whereas "bijli ka kaam" is not the bijli of "bijli, pani free". */
  private shorten(label: number, from: number): void {
    const { vocabulary, words } = this.labels
    const word = vocabulary.words[words[from]!]!
    if (vocabulary.words[words[from + 2]!] === 'kaam' && word.endsWith('ing'))
      this.rows.addSingleVariant(word, vocabulary.stems[words[from]!]!, label)
  }

  /** "brick work" is also written "brickwork". */
  private joinWords(label: number, from: number): void {
    const { vocabulary, words } = this.labels
    const last = vocabulary.words[words[from + 1]!]!
    if (!JOINING.has(last)) return
    const word = vocabulary.words[words[from]!]! + last
    this.rows.addSingle(word, this.rows.learn(word), label)
  }

  /** "e-commerce" is also written "ecommerce". */
  private joinCompounds(label: number, from: number, to: number): void {
    const { vocabulary, words } = this.labels
    const { gaps, row, rows } = this
    row.length = 0
    let word = ''
    for (let at = from; at < to; at++) {
      word = vocabulary.words[words[at]!]!
      while (at + 1 < to && gaps[at + 1] === JOINED) word += vocabulary.words[words[++at]!]!
      const known = rows.strangerCount
      const number = rows.learn(word)
      if (rows.strangerCount > known) for (const form of formsOf(word)) rows.forms.add(form, number)
      row.push(number)
    }
    if (row.length > 1) rows.insert(row, label)
    else rows.addSingle(word, row[0]!, label)
  }
}
