import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ALIAS, NAME } from '../labels/labels.ts'
import { isRoleWord } from '../lexicon/filler-words.ts'
import { everydayWords, nameParts } from '../lexicon/lexicon.ts'
import { inflections, spellingVariants, stemOf } from '../lexicon/stems.ts'
import { agentNounsFor, hindiTranslations, misspellingsOf, romanisedInflections } from '../lexicon/word-forms.ts'
import { buildSkillIndexSync } from '../skill-index.ts'
import { GAP_BREAK, GAP_JOINER, GAP_NONE, GAP_SPACE, Tokens, tokenize, wordHash } from '../text/tokens.ts'
import { advertisementPhraseKind } from './advertisement-words.ts'

/**
 * A slow and simple implementation of mention finding, compared with the index on random catalogues and texts. It starts at every
 * word of the text and compares the following words with every pattern of every label; it has no trie, no hashes and no filters.
 * The mentions must be equal: skill, start and end of each. Scores are not compared; extract.test.ts covers them.
 *
 * It shares with the index the tokenizer, the stemmer, the inflections and the lexicon. It follows these deliberate
 * approximations: a word is skipped as a linking word only if no label continues with it, and the first word that continues a
 * label is taken without backtracking.
 *
 * The random catalogues use only words for which these rules are complete. Not restated here, and covered by examples in
 * extract.test.ts: Devanagari, misspelt Hindi, split words, numerals, short forms, halves of names with "and", names without their
 * activity, everyday words, letter case, and words of advertisements.
 */

interface SkillEntry {
  number: number
  name: string
  aliases: string[]
}

interface Label {
  number: number
  kind: number
  words: string[]
  gaps: number[]
}

/** A label with the sequence of stems that mentions it. */
interface Pattern {
  stems: string[]
  label: Label
  isVariant: boolean
}

interface FoundMention {
  label: Label
  isVariant: boolean
  from: number
  to: number
}

const LINKING_WORD = 'linking word'
const CONJUNCTION = 'conjunction'
const FOLLOWING_WORD = 'following word'
const MAX_LINKING_WORDS = 2

class ReferenceExtractor {
  private readonly labels: Label[]
  private readonly patterns = new Map<string, Pattern>()
  /** The stem of each word that texts may contain. */
  private readonly stemsByForm = new Map<string, string>()
  private readonly rolesByStem = new Map<string, string>()
  private readonly singleWordLabels = new Map<string, Label>()
  private readonly singleStems = new Set<string>()
  /** Other labels with the same stems, by the label that owns the pattern. */
  private readonly labelsWithSameStems = new Map<Label, Label[]>()
  /** Positions of the words that follow a punctuation mark, by label. */
  private readonly signPositions = new Map<Label, Set<number>>()
  private text = ''
  private words: string[] = []
  private gaps: number[] = []
  private starts: number[] = []
  private ends: number[] = []
  private foundMentions: FoundMention[] = []

  constructor(entries: SkillEntry[]) {
    this.labels = [...entries].sort((a, b) => a.number - b.number).flatMap(labelsOf)
    const vocabulary = [...new Set(this.labels.flatMap(({ words }) => words))].sort()
    for (const word of vocabulary) this.addForm(word, stemOf(word))
    for (const [role, words] of [
      [LINKING_WORD, nameParts['linking words']],
      [CONJUNCTION, nameParts.conjunctions],
      [FOLLOWING_WORD, nameParts['following words']],
    ] as const)
      for (const word of words) {
        this.addForm(word, stemOf(word))
        this.rolesByStem.set(stemOf(word), role)
      }
    for (const word of vocabulary)
      for (const form of [...inflections(word), ...misspellingsOf(word)]) this.addForm(form, stemOf(word))
    const stems = new Set(vocabulary.map(stemOf))
    for (const label of this.labels) this.addLabel(label, stems)
    for (const label of this.labels) this.addVariants(label)
    this.fillSingles()
  }

  private addForm(form: string, stem: string): void {
    if (!this.stemsByForm.has(form)) this.stemsByForm.set(form, stem)
  }

  private addPattern(stems: string[], label: Label, isVariant: boolean): void {
    const key = stems.join(' ')
    const existing = this.patterns.get(key)
    const takesPrecedence = existing && !isVariant && !existing.isVariant && label.kind < existing.label.kind
    if (!existing || takesPrecedence) this.patterns.set(key, { stems, label, isVariant })
    if (!existing || isVariant || existing.isVariant) return
    const [owner, other] = takesPrecedence ? [label, existing.label] : [existing.label, label]
    for (const position of this.signPositions.get(other)!) this.signPositions.get(owner)!.add(position)
    const otherLabels = this.labelsWithSameStems.get(other) ?? []
    this.labelsWithSameStems.delete(other)
    if (owner.number !== other.number) otherLabels.push(other)
    this.labelsWithSameStems.set(owner, [...(this.labelsWithSameStems.get(owner) ?? []), ...otherLabels])
  }

  /** Adds the patterns of a label: its words, and "ecommerce" for "e-commerce". */
  private addLabel(label: Label, stems: Set<string>): void {
    const { words, gaps } = label
    this.signPositions.set(label, new Set(gaps.flatMap((gap, i) => (i > 0 && gap === GAP_BREAK ? [i] : []))))
    if (words.length > 1) this.addPattern(words.map(stemOf), label, false)
    else this.singleStems.add(stemOf(words[0]!))
    if (!gaps.includes(GAP_JOINER)) return
    const joined: string[] = []
    for (const [i, word] of words.entries())
      if (gaps[i] === GAP_JOINER) joined.push(joined.pop()! + word)
      else joined.push(word)
    for (const word of joined) {
      this.addForm(word, stemOf(word))
      if (!stems.has(stemOf(word))) for (const form of inflections(word)) this.addForm(form, stemOf(word))
      stems.add(stemOf(word))
    }
    if (joined.length > 1) this.addPattern(joined.map(stemOf), label, false)
    else this.singleStems.add(stemOf(joined[0]!))
  }

  /** Adds "forklift operator" and "forklift chalana" for forklift operation, "operation of forklift" and "loading trucks". */
  private addVariants(label: Label): void {
    const { words } = label
    if (words.length < 2) return
    const lastWord = words.at(-1)!
    const stemsBefore = words.slice(0, -1).map(stemOf)
    for (const agent of agentNounsFor(lastWord)) {
      this.addForm(agent, stemOf(agent))
      this.addPattern([...stemsBefore, stemOf(agent)], label, true)
    }
    if (lastWord.endsWith('ing')) this.addPattern([stemOf(lastWord), ...stemsBefore], label, true)
    else if (/(tion|sion|ment|ance|repair|service)$/.test(lastWord))
      this.addPattern([stemOf(lastWord), stemOf('of'), ...stemsBefore], label, true)
    for (const hindi of hindiTranslations(lastWord)) {
      this.addForm(hindi, stemOf(hindi))
      for (const form of romanisedInflections(hindi)) this.addForm(form, stemOf(hindi))
      this.addPattern([...stemsBefore, stemOf(hindi)], label, true)
    }
  }

  /** Collects the labels of a single word: names before aliases, and the words themselves before their other forms. */
  private fillSingles(): void {
    const singleWords = this.labels.flatMap((label) => {
      const joined = label.words.length > 1 && label.gaps.slice(1).every((gap) => gap === GAP_JOINER)
      return label.words.length === 1 || joined ? [{ word: label.words.join(''), label }] : []
    })
    for (const formsOf of [
      (word: string) => [word],
      (word: string) => [...spellingVariants(word), ...misspellingsOf(word)],
    ])
      for (let kind = NAME; kind <= ALIAS; kind++)
        for (const { word, label } of singleWords)
          if (label.kind === kind)
            for (const form of formsOf(word))
              if (!this.singleWordLabels.has(form)) this.singleWordLabels.set(form, label)
  }

  extract(text: string): string[] {
    const tokens = new Tokens().read(text)
    const count = tokens.count
    this.text = text
    this.words = Array.from({ length: count }, (_, i) => tokens.word(i))
    this.gaps = Array.from(tokens.gaps.subarray(0, count))
    this.starts = Array.from(tokens.starts.subarray(0, count))
    this.ends = Array.from(tokens.ends.subarray(0, count))
    this.foundMentions = []
    for (let from = 0; from < count; from++) this.findMentionsFrom(from)
    return this.withoutOverlaps().map(({ label, isVariant, from, to }) => {
      const { number } = isVariant ? label : this.labelWithTheseWords(label, from, to)
      return `${number}:${this.starts[from]}-${this.ends[to - 1]}`
    })
  }

  private stemAt(at: number): string | undefined {
    return at < this.words.length ? this.stemsByForm.get(this.words[at]!) : undefined
  }

  private roleAt(at: number): string | undefined {
    return this.rolesByStem.get(this.stemAt(at) ?? '')
  }

  /** Returns the stem of two words that have a hyphen or no character between them. */
  private joinedStemAt(at: number): string | undefined {
    const gap = this.gaps[at + 1]
    return gap === GAP_JOINER || gap === GAP_NONE
      ? this.stemsByForm.get(this.words[at]! + this.words[at + 1]!)
      : undefined
  }

  /** Whether any pattern begins with these stems and has further stems. */
  private continuesPattern(stems: string[]): boolean {
    const prefix = `${stems.join(' ')} `
    return [...this.patterns.keys()].some((key) => key.startsWith(prefix))
  }

  private hasPrefix(stems: string[]): boolean {
    return this.patterns.has(stems.join(' ')) || this.continuesPattern(stems)
  }

  private singleWordLabel(word: string, stem: string): Label | undefined {
    return this.singleStems.has(stem) ? this.singleWordLabels.get(word) : undefined
  }

  private add(pattern: Pattern, from: number, to: number): void {
    this.foundMentions.push({ label: pattern.label, isVariant: pattern.isVariant, from, to })
  }

  private findMentionsFrom(from: number): void {
    const stem = this.stemAt(from)
    if (stem !== undefined) {
      const isListSlash = this.gaps[from + 1] === GAP_JOINER && this.text[this.ends[from]!] === '/'
      const isComma = this.gaps[from + 1] !== GAP_SPACE && this.text[this.ends[from]!] === ','
      const isConjunction = this.roleAt(from + 1) === CONJUNCTION && !isListSlash
      if (isListSlash) this.expandSharedHeadOfList(from, from + 1, [stem])
      this.addLongestLabel(from, from + 1, [stem], this.singleWordLabel(this.words[from]!, stem))
      if (this.continuesPattern([stem]) && (isComma || isConjunction) && this.continuesList(from + 1)) {
        const isExpanded = this.expandSharedHeadOfList(from, from + 1, [stem])
        if (!isExpanded && this.roleAt(from + 1) === CONJUNCTION) this.expandSharedHead(from, [stem])
      }
    }
    const joined = this.joinedStemAt(from)
    if (joined !== undefined)
      this.addLongestLabel(
        from,
        from + 2,
        [joined],
        this.singleWordLabel(this.words[from]! + this.words[from + 1]!, joined),
      )
  }

  /** Reads words as long as some label continues with them, and adds the longest label. */
  private addLongestLabel(from: number, next: number, first: string[], single: Label | undefined): void {
    let stems = first
    let at = next
    let linkCount = 0
    let takenEnd = next
    let best: { pattern: Pattern; end: number; parent: string[] } | undefined
    while (this.continuesPattern(stems) && at < this.words.length && this.gaps[at] !== GAP_BREAK) {
      const wordStem = this.stemAt(at)
      const joined = this.joinedStemAt(at)
      const [takenStem, takenLength] =
        wordStem !== undefined && this.hasPrefix([...stems, wordStem])
          ? [wordStem, 1]
          : joined !== undefined && this.hasPrefix([...stems, joined])
            ? [joined, 2]
            : [undefined, 1]
      if (takenStem === undefined && (this.roleAt(at) !== LINKING_WORD || ++linkCount > MAX_LINKING_WORDS)) break
      at += takenLength
      if (takenStem === undefined) continue
      takenEnd = at
      const parent = stems
      stems = [...stems, takenStem]
      const pattern = this.patterns.get(stems.join(' '))
      if (pattern) best = { pattern, end: at, parent }
    }
    if (this.continuesPattern(stems) && at < this.words.length && this.gaps[at] === GAP_BREAK) {
      const punctuated = this.punctuatedName(from, at, stems)
      if (punctuated) {
        this.foundMentions.push(punctuated)
        return
      }
    }
    const end = best?.end ?? next
    if (takenEnd === at && end < at && this.continuesPattern(stems) && this.continuesList(at))
      this.expandSharedHeadOfList(from, at, stems)
    if (best) {
      this.add(best.pattern, from, best.end)
      this.expandSharedModifier(best.end, best.parent)
    } else if (single) this.foundMentions.push({ label: single, isVariant: false, from, to: next })
  }

  /** Returns the longest label with punctuation marks at the same positions as in the text. */
  private punctuatedName(from: number, next: number, first: string[]): FoundMention | undefined {
    let stems = first
    const crossedPositions: number[] = []
    let longest: FoundMention | undefined
    for (let at = next; this.continuesPattern(stems) && at < this.words.length; at++) {
      if (this.gaps[at] === GAP_BREAK) {
        if (at - from > 15 || /[\n\r]/.test(this.text.slice(this.ends[at - 1], this.starts[at]))) break
        crossedPositions.push(at - from)
      }
      const stem = this.stemAt(at)
      if (stem === undefined || !this.hasPrefix([...stems, stem])) break
      stems = [...stems, stem]
      const pattern = this.patterns.get(stems.join(' '))
      if (
        pattern &&
        !pattern.isVariant &&
        crossedPositions.every((position) => this.signPositions.get(pattern.label)!.has(position))
      )
        longest = { label: pattern.label, isVariant: false, from, to: at + 1 }
    }
    return longest
  }

  /** Whether a word follows a single comma or slash, or is a conjunction. */
  private continuesList(at: number): boolean {
    if (at >= this.words.length) return false
    if (this.gaps[at] === GAP_SPACE) return this.roleAt(at) === CONJUNCTION
    return /^ *[,/] *$/.test(this.text.slice(this.ends[at - 1], this.starts[at]))
  }

  private endsItem(at: number): boolean {
    return (
      at >= this.words.length ||
      this.gaps[at] === GAP_BREAK ||
      this.gaps[at] === GAP_JOINER ||
      this.roleAt(at) !== undefined
    )
  }

  /** Adds wheel balancing for "wheel alignment, balancing and rotation". */
  private expandSharedModifier(end: number, modifier: string[]): void {
    for (let at = end; this.continuesList(at); at++) {
      if (this.roleAt(at) === CONJUNCTION) at++
      const stem = this.stemAt(at)
      if (stem === undefined || (this.gaps[at] === GAP_BREAK && at !== end) || !this.endsItem(at + 1)) return
      const pattern = this.patterns.get([...modifier, stem].join(' '))
      if (!pattern || pattern.isVariant) return
      const word = this.words[at]!
      if (!isRoleWord(wordHash(word)) && !this.singleWordLabel(word, stem)) this.add(pattern, at, at + 1)
    }
  }

  /** Adds accident investigation for "accident and near miss investigation". */
  private expandSharedHead(from: number, stems: string[]): void {
    if (this.gaps[from + 1] === GAP_BREAK) return
    for (let at = from + 2; at < this.words.length && at <= from + 5 && this.gaps[at] !== GAP_BREAK; at++) {
      const stem = this.stemAt(at)
      const pattern = at > from + 2 && stem !== undefined ? this.patterns.get([...stems, stem].join(' ')) : undefined
      if (!pattern) continue
      this.add(pattern, from, from + 1)
      return
    }
  }

  /** Adds arc welding for "arc, MIG and TIG welding". Items have one word; the last one may have up to three, which end with the shared head. */
  private expandSharedHeadOfList(from: number, end: number, stems: string[]): boolean {
    let isLastItem = false
    let itemLength = 0
    for (let at = end; at < this.words.length && at <= end + 8; at++) {
      if (this.continuesList(at)) {
        if (isLastItem || itemLength > 1) return false
        isLastItem = this.roleAt(at) === CONJUNCTION
        itemLength = isLastItem ? 0 : 1
      } else if (this.gaps[at] === GAP_BREAK || ++itemLength > 3) return false
      const pattern = itemLength > 1 ? this.patternWithHead(at, stems) : undefined
      if (!pattern) continue
      this.add(pattern, from, end)
      return true
    }
    return false
  }

  /** Returns the label that consists of some stems and the words from `at` to the end of their item. */
  private patternWithHead(at: number, first: string[]): Pattern | undefined {
    let stems = first
    for (let next = at; ; next++) {
      const stem = this.stemAt(next)
      if (stem === undefined || !this.hasPrefix([...stems, stem])) return undefined
      stems = [...stems, stem]
      if (!this.endsItem(next + 1)) continue
      const pattern = this.patterns.get(stems.join(' '))
      return pattern?.isVariant ? undefined : pattern
    }
  }

  /** Resolves overlaps: keeps the mention with the most words; among these labels before variants, then the longest, then the first. */
  private withoutOverlaps(): FoundMention[] {
    const mentionLength = ({ from, to }: FoundMention) => this.ends[to - 1]! - this.starts[from]!
    const sorted = this.foundMentions.toSorted(
      (a, b) =>
        b.to - b.from - (a.to - a.from) ||
        Number(a.isVariant) - Number(b.isVariant) ||
        mentionLength(b) - mentionLength(a) ||
        a.from - b.from,
    )
    const keptMentions: FoundMention[] = []
    for (const mention of sorted) {
      if (keptMentions.every((other) => mention.to <= other.from || mention.from >= other.to))
        keptMentions.push(mention)
    }
    return keptMentions
  }

  /** If the mention is a separate phrase, chooses among labels with the same stems the one with the words of the text. */
  private labelWithTheseWords(label: Label, from: number, to: number): Label {
    const isIsolated = this.gaps[from] === GAP_BREAK && (to === this.words.length || this.gaps[to] === GAP_BREAK)
    const mentionedText = this.words.slice(from, to).join(' ')
    const hasWords = ({ words }: Label) => words.join(' ') === mentionedText
    return !isIsolated || hasWords(label) ? label : (this.labelsWithSameStems.get(label)?.find(hasWords) ?? label)
  }
}

function labelsOf({ number, name, aliases }: SkillEntry): Label[] {
  const labels = [name, ...aliases].map((text, i) => {
    const tokens = new Tokens().read(text)
    return {
      number,
      kind: i === 0 ? NAME : ALIAS,
      words: tokenize(text),
      gaps: Array.from(tokens.gaps.subarray(0, tokens.count)),
    }
  })
  return labels.filter(({ words }, i) => labels.findIndex((other) => other.words.join(' ') === words.join(' ')) === i)
}

/** Words of labels: long enough to be a mention alone, in several forms, some with agent nouns and Hindi words. */
const VOCABULARY =
  'truck trucks motor motors valve boiler gasket turbine loading loaded charging balancing alignment installation installations inspection servicing rotation cyber physical fabric'.split(
    ' ',
  )
/** Further words of texts: other forms, words for people, Hindi words, and words that no label contains. */
const OTHER_WORDS =
  'valves boilers turbines load loader charger balancer installer fitter technician inspector mechanic lagana lagane marammat cyberphysical cyberphysicals motorvalve helper quite heavy xyz'.split(
    ' ',
  )
const LINKING_WORDS = 'of the ka ki'.split(' ')
const ROLE_WORDS = 'and or aur for with in'.split(' ')

const vocabularyWord = fc.constantFrom(...VOCABULARY)
const labelText = fc
  .array(fc.tuple(vocabularyWord, fc.constantFrom(' ', ' ', ' ', ' ', '-', ', ')), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.flatMap(([word, separator], i) => (i > 0 ? [separator, word] : [word])).join(''))
const catalogueEntries = fc
  .array(fc.record({ name: labelText, aliases: fc.array(labelText, { maxLength: 3 }) }), {
    minLength: 1,
    maxLength: 12,
  })
  .map((entries) => entries.map((entry, i) => ({ number: i + 1, ...entry })))
const textWord = fc.oneof(
  { weight: 8, arbitrary: vocabularyWord },
  { weight: 2, arbitrary: fc.constantFrom(...OTHER_WORDS) },
  { weight: 2, arbitrary: fc.constantFrom(...LINKING_WORDS) },
  { weight: 2, arbitrary: fc.constantFrom(...ROLE_WORDS) },
)
/** Returns the label unchanged, or with linking words. */
function mentionText(label: string, n: number): string {
  return label.replaceAll(' ', [' ', ' ', ' of ', ' of the ', ' ki of the '][Math.floor(n / 3) % 5]!)
}
const separator = fc.constantFrom(' ', ' ', ' ', ' ', ' ', ' ', '-', ', ', ', ', '/', '. ', '\n')

test('extract finds the same mentions as the reference', () => {
  let mentionCount = 0
  fc.assert(
    fc.property(
      catalogueEntries,
      fc.array(fc.array(fc.tuple(textWord, fc.nat(), separator), { minLength: 1, maxLength: 25 }), {
        minLength: 8,
        maxLength: 8,
      }),
      (entries, texts) => {
        const index = buildSkillIndexSync(entries)
        const reference = new ReferenceExtractor(entries)
        const labels = entries.flatMap(({ name, aliases }) => [name, ...aliases])
        for (const parts of texts) {
          const text = parts
            .map(([word, n, sign]) => (n % 3 === 0 ? mentionText(labels[n % labels.length]!, n) : word) + sign)
            .join('')
          const foundBySkillIndex = index
            .extract(text, 1000)
            .flatMap(({ number, mentions }) => mentions.map(({ start, end }) => `${number}:${start}-${end}`))
          mentionCount += foundBySkillIndex.length
          assert.deepEqual(foundBySkillIndex.sort(), reference.extract(text).sort(), text)
        }
      },
    ),
    { numRuns: 100 },
  )
  assert.ok(mentionCount > 700, `only ${mentionCount} mentions were compared`)
})

test('the words of the random catalogues trigger no rule that the reference leaves out', () => {
  const excluded = new Set([...nameParts['joined words'], ...nameParts.activities, ...everydayWords])
  for (const word of [...VOCABULARY, ...OTHER_WORDS]) {
    assert.ok(VOCABULARY.indexOf(word) < 0 || (word.length > 4 && !excluded.has(word)), word)
    assert.equal(advertisementPhraseKind(new Tokens().read(word), 0, 1), 0, word)
  }
})
