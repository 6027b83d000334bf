import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ALIAS, aliasesOf, NAME } from '../labels/labels.ts'
import { isRoleWord } from '../lexicon/filler-words.ts'
import { everydayWords, nameParts } from '../lexicon/lexicon.ts'
import { inflections, spellingVariants, stemOf } from '../lexicon/stems.ts'
import { agentNounsFor, hindiTranslations, misspellingsOf, romanisedInflections } from '../lexicon/word-forms.ts'
import { buildSkillIndexSync } from '../skill-index.ts'
import { GAP_BREAK, GAP_JOINER, GAP_NONE, GAP_SPACE, Tokens, tokenize, wordHash } from '../text/tokens.ts'
import { advertisementPhraseKind } from './advertisement-words.ts'

/**
 * Compares the index with a slow and simple reference implementation on random catalogues and texts. From each word of the
 * text, the reference compares the following words with all patterns. It has no trie, no hashes and no filters. Both must find
 * the same mentions, with the same skill, start and end. Scores are tested in extract.test.ts.
 *
 * The reference uses the same tokenizer, stemmer, inflections and lexicon as the index. It also makes the same simplifications:
 * a linking word is skipped only if no label continues with it, and the first word that continues a label is used without
 * backtracking.
 *
 * The reference does not implement all rules. These are tested by examples in extract.test.ts: Devanagari, misspelt Hindi,
 * split words, numerals, short forms, halves of names with "and", names without their activity, everyday words, letter case,
 * and words of advertisements. The random catalogues contain no words to which these rules apply.
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

/** A sequence of stems that mentions a label. `isVariant` is false for the words of the label itself. */
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
/** Limits of the index (mention-finder.ts, punctuated-names.ts). */
const MAX_SKIPPED_LINKING_WORDS = 2
const MAX_SHARED_HEAD_DISTANCE_WORDS = 5
const MAX_LIST_WORDS = 8
const MAX_LAST_ITEM_WORDS = 3
const MAX_PUNCTUATION_POSITION = 15

class ReferenceExtractor {
  private readonly labels: Label[]
  private readonly patterns = new Map<string, Pattern>()
  /** From word forms that are recognised in a text to their stems. */
  private readonly stemsByForm = new Map<string, string>()
  private readonly functionWordKindsByStem = new Map<string, string>()
  private readonly singleWordLabels = new Map<string, Label>()
  private readonly singleWordStems = new Set<string>()
  /** By label of a pattern: other labels with the same stems. */
  private readonly labelsWithSameStems = new Map<Label, Label[]>()
  /** By label: the positions of its words that follow punctuation. */
  private readonly punctuationPositions = new Map<Label, Set<number>>()
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
    for (const [kind, words] of [
      [LINKING_WORD, nameParts['linking words']],
      [CONJUNCTION, nameParts.conjunctions],
      [FOLLOWING_WORD, nameParts['following words']],
    ] as const)
      for (const word of words) {
        this.addForm(word, stemOf(word))
        this.functionWordKindsByStem.set(stemOf(word), kind)
      }
    for (const word of vocabulary)
      for (const form of [...inflections(word), ...misspellingsOf(word)]) this.addForm(form, stemOf(word))
    const stems = new Set(vocabulary.map(stemOf))
    for (const label of this.labels) this.addLabel(label, stems)
    for (const label of this.labels) this.addVariants(label)
    this.addSingleWordLabels()
  }

  private addForm(form: string, stem: string): void {
    if (!this.stemsByForm.has(form)) this.stemsByForm.set(form, stem)
  }

  private addPattern(stems: string[], label: Label, isVariant: boolean): void {
    const key = stems.join(' ')
    const existingPattern = this.patterns.get(key)
    const takesPrecedence =
      existingPattern && !isVariant && !existingPattern.isVariant && label.kind < existingPattern.label.kind
    if (!existingPattern || takesPrecedence) this.patterns.set(key, { stems, label, isVariant })
    if (!existingPattern || isVariant || existingPattern.isVariant) return
    const [keptLabel, otherLabel] = takesPrecedence ? [label, existingPattern.label] : [existingPattern.label, label]
    for (const position of this.punctuationPositions.get(otherLabel)!)
      this.punctuationPositions.get(keptLabel)!.add(position)
    const otherLabels = this.labelsWithSameStems.get(otherLabel) ?? []
    this.labelsWithSameStems.delete(otherLabel)
    if (keptLabel.number !== otherLabel.number) otherLabels.push(otherLabel)
    this.labelsWithSameStems.set(keptLabel, [...(this.labelsWithSameStems.get(keptLabel) ?? []), ...otherLabels])
  }

  /**
   * Adds the patterns of a label: its words, and "ecommerce" for "e-commerce". Adds the stems of the joined words to
   * `knownStems`.
   */
  private addLabel(label: Label, knownStems: Set<string>): void {
    const { words, gaps } = label
    this.punctuationPositions.set(label, new Set(gaps.flatMap((gap, i) => (i > 0 && gap === GAP_BREAK ? [i] : []))))
    if (words.length > 1) this.addPattern(words.map(stemOf), label, false)
    else this.singleWordStems.add(stemOf(words[0]!))
    if (!gaps.includes(GAP_JOINER)) return
    const joinedWords: string[] = []
    for (const [i, word] of words.entries())
      if (gaps[i] === GAP_JOINER) joinedWords.push(joinedWords.pop()! + word)
      else joinedWords.push(word)
    for (const word of joinedWords) {
      this.addForm(word, stemOf(word))
      if (!knownStems.has(stemOf(word))) for (const form of inflections(word)) this.addForm(form, stemOf(word))
      knownStems.add(stemOf(word))
    }
    if (joinedWords.length > 1) this.addPattern(joinedWords.map(stemOf), label, false)
    else this.singleWordStems.add(stemOf(joinedWords[0]!))
  }

  /** Adds "forklift operator" and "forklift chalana" for forklift operation, "operation of forklift" and "loading trucks". */
  private addVariants(label: Label): void {
    const { words } = label
    if (words.length < 2) return
    const lastWord = words.at(-1)!
    const stemsBefore = words.slice(0, -1).map(stemOf)
    for (const agentNoun of agentNounsFor(lastWord)) {
      this.addForm(agentNoun, stemOf(agentNoun))
      this.addPattern([...stemsBefore, stemOf(agentNoun)], label, true)
    }
    if (lastWord.endsWith('ing')) this.addPattern([stemOf(lastWord), ...stemsBefore], label, true)
    else if (/(tion|sion|ment|ance|repair|service)$/.test(lastWord))
      this.addPattern([stemOf(lastWord), stemOf('of'), ...stemsBefore], label, true)
    for (const hindiWord of hindiTranslations(lastWord)) {
      this.addForm(hindiWord, stemOf(hindiWord))
      for (const form of romanisedInflections(hindiWord)) this.addForm(form, stemOf(hindiWord))
      this.addPattern([...stemsBefore, stemOf(hindiWord)], label, true)
    }
  }

  /**
   * Adds the labels of one word. The first label of a form is kept, so words come before their other forms, and names before
   * aliases.
   */
  private addSingleWordLabels(): void {
    const singleWords = this.labels.flatMap((label) => {
      const isJoinable = label.words.length > 1 && label.gaps.slice(1).every((gap) => gap === GAP_JOINER)
      return label.words.length === 1 || isJoinable ? [{ word: label.words.join(''), label }] : []
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
    return this.removeOverlaps().map(({ label, isVariant, from, to }) => {
      const { number } = isVariant ? label : this.labelWithExactWords(label, from, to)
      return `${number}:${this.starts[from]}-${this.ends[to - 1]}`
    })
  }

  private stemAt(at: number): string | undefined {
    return at < this.words.length ? this.stemsByForm.get(this.words[at]!) : undefined
  }

  private functionWordKindAt(at: number): string | undefined {
    return this.functionWordKindsByStem.get(this.stemAt(at) ?? '')
  }

  /** Returns the stem of the words `at` and `at` + 1 written as one word, if a hyphen or nothing is between them. */
  private joinedStemAt(at: number): string | undefined {
    const gap = this.gaps[at + 1]
    return gap === GAP_JOINER || gap === GAP_NONE
      ? this.stemsByForm.get(this.words[at]! + this.words[at + 1]!)
      : undefined
  }

  /** Whether a pattern begins with these stems and is longer. */
  private continuesPattern(stems: string[]): boolean {
    const prefix = `${stems.join(' ')} `
    return [...this.patterns.keys()].some((key) => key.startsWith(prefix))
  }

  /** Whether a pattern equals these stems or begins with them. */
  private hasPrefix(stems: string[]): boolean {
    return this.patterns.has(stems.join(' ')) || this.continuesPattern(stems)
  }

  private findSingleWordLabel(word: string, stem: string): Label | undefined {
    return this.singleWordStems.has(stem) ? this.singleWordLabels.get(word) : undefined
  }

  private addMention(pattern: Pattern, from: number, to: number): void {
    this.foundMentions.push({ label: pattern.label, isVariant: pattern.isVariant, from, to })
  }

  private findMentionsFrom(from: number): void {
    const stem = this.stemAt(from)
    if (stem !== undefined) {
      const isListSlash = this.gaps[from + 1] === GAP_JOINER && this.text[this.ends[from]!] === '/'
      const isComma = this.gaps[from + 1] !== GAP_SPACE && this.text[this.ends[from]!] === ','
      const isConjunction = this.functionWordKindAt(from + 1) === CONJUNCTION && !isListSlash
      if (isListSlash) this.expandSharedHeadOfList(from, from + 1, [stem])
      this.addLongestLabel(from, from + 1, [stem], this.findSingleWordLabel(this.words[from]!, stem))
      if (this.continuesPattern([stem]) && (isComma || isConjunction) && this.continuesList(from + 1)) {
        const isExpanded = this.expandSharedHeadOfList(from, from + 1, [stem])
        if (!isExpanded && this.functionWordKindAt(from + 1) === CONJUNCTION) this.expandSharedHeadOfPair(from, [stem])
      }
    }
    const joinedStem = this.joinedStemAt(from)
    if (joinedStem !== undefined)
      this.addLongestLabel(
        from,
        from + 2,
        [joinedStem],
        this.findSingleWordLabel(this.words[from]! + this.words[from + 1]!, joinedStem),
      )
  }

  /**
   * Adds the longest label that begins at `from`. Reads words from `next` on while a pattern continues with them. `firstStems` are
   * the stems before `next`, and `shortLabel` is the label that ends before `next`.
   */
  private addLongestLabel(from: number, next: number, firstStems: string[], shortLabel: Label | undefined): void {
    let stems = firstStems
    let at = next
    let skippedLinkingWords = 0
    let matchedEnd = next
    let longestMatch: { pattern: Pattern; end: number; parent: string[] } | undefined
    while (this.continuesPattern(stems) && at < this.words.length && this.gaps[at] !== GAP_BREAK) {
      const wordStem = this.stemAt(at)
      const joinedStem = this.joinedStemAt(at)
      const [matchedStem, matchedWordCount] =
        wordStem !== undefined && this.hasPrefix([...stems, wordStem])
          ? [wordStem, 1]
          : joinedStem !== undefined && this.hasPrefix([...stems, joinedStem])
            ? [joinedStem, 2]
            : [undefined, 1]
      if (
        matchedStem === undefined &&
        (this.functionWordKindAt(at) !== LINKING_WORD || ++skippedLinkingWords > MAX_SKIPPED_LINKING_WORDS)
      )
        break
      at += matchedWordCount
      if (matchedStem === undefined) continue
      matchedEnd = at
      const parent = stems
      stems = [...stems, matchedStem]
      const pattern = this.patterns.get(stems.join(' '))
      if (pattern) longestMatch = { pattern, end: at, parent }
    }
    if (this.continuesPattern(stems) && at < this.words.length && this.gaps[at] === GAP_BREAK) {
      const punctuatedName = this.findPunctuatedName(from, at, stems)
      if (punctuatedName) {
        this.foundMentions.push(punctuatedName)
        return
      }
    }
    const end = longestMatch?.end ?? next
    if (matchedEnd === at && end < at && this.continuesPattern(stems) && this.continuesList(at))
      this.expandSharedHeadOfList(from, at, stems)
    if (longestMatch) {
      this.addMention(longestMatch.pattern, from, longestMatch.end)
      this.expandSharedModifier(longestMatch.end, longestMatch.parent)
    } else if (shortLabel) this.foundMentions.push({ label: shortLabel, isVariant: false, from, to: next })
  }

  /** Returns the longest label that has punctuation at the same positions as the text. */
  private findPunctuatedName(from: number, next: number, firstStems: string[]): FoundMention | undefined {
    let stems = firstStems
    const positionsInText: number[] = []
    let longestName: FoundMention | undefined
    for (let at = next; this.continuesPattern(stems) && at < this.words.length; at++) {
      if (this.gaps[at] === GAP_BREAK) {
        if (at - from > MAX_PUNCTUATION_POSITION || /[\n\r]/.test(this.text.slice(this.ends[at - 1], this.starts[at])))
          break
        positionsInText.push(at - from)
      }
      const stem = this.stemAt(at)
      if (stem === undefined || !this.hasPrefix([...stems, stem])) break
      stems = [...stems, stem]
      const pattern = this.patterns.get(stems.join(' '))
      if (
        pattern &&
        !pattern.isVariant &&
        positionsInText.every((position) => this.punctuationPositions.get(pattern.label)!.has(position))
      )
        longestName = { label: pattern.label, isVariant: false, from, to: at + 1 }
    }
    return longestName
  }

  /** Whether the word at `at` continues a list: it follows one comma or slash, or it is a conjunction. */
  private continuesList(at: number): boolean {
    if (at >= this.words.length) return false
    if (this.gaps[at] === GAP_SPACE) return this.functionWordKindAt(at) === CONJUNCTION
    return /^ *[,/] *$/.test(this.text.slice(this.ends[at - 1], this.starts[at]))
  }

  /** Whether the list item before the word at `at` ends there. */
  private endsItem(at: number): boolean {
    return (
      at >= this.words.length ||
      this.gaps[at] === GAP_BREAK ||
      this.gaps[at] === GAP_JOINER ||
      this.functionWordKindAt(at) !== undefined
    )
  }

  /** Adds wheel balancing for "wheel alignment, balancing and rotation". */
  private expandSharedModifier(end: number, modifier: string[]): void {
    for (let at = end; this.continuesList(at); at++) {
      if (this.functionWordKindAt(at) === CONJUNCTION) at++
      const stem = this.stemAt(at)
      if (stem === undefined || (this.gaps[at] === GAP_BREAK && at !== end) || !this.endsItem(at + 1)) return
      const pattern = this.patterns.get([...modifier, stem].join(' '))
      if (!pattern || pattern.isVariant) return
      const word = this.words[at]!
      if (!isRoleWord(wordHash(word)) && !this.findSingleWordLabel(word, stem)) this.addMention(pattern, at, at + 1)
    }
  }

  /** Adds accident investigation for "accident and near miss investigation". */
  private expandSharedHeadOfPair(from: number, stems: string[]): void {
    if (this.gaps[from + 1] === GAP_BREAK) return
    for (
      let at = from + 2;
      at < this.words.length && at <= from + MAX_SHARED_HEAD_DISTANCE_WORDS && this.gaps[at] !== GAP_BREAK;
      at++
    ) {
      const stem = this.stemAt(at)
      const pattern = at > from + 2 && stem !== undefined ? this.patterns.get([...stems, stem].join(' ')) : undefined
      if (!pattern) continue
      this.addMention(pattern, from, from + 1)
      return
    }
  }

  /**
   * Adds arc welding for "arc, MIG and TIG welding". Items have one word. The last one has up to three, which end with the
   * shared head.
   */
  private expandSharedHeadOfList(from: number, end: number, stems: string[]): boolean {
    let isLastItem = false
    let itemLength = 0
    for (let at = end; at < this.words.length && at <= end + MAX_LIST_WORDS; at++) {
      if (this.continuesList(at)) {
        if (isLastItem || itemLength > 1) return false
        isLastItem = this.functionWordKindAt(at) === CONJUNCTION
        itemLength = isLastItem ? 0 : 1
      } else if (this.gaps[at] === GAP_BREAK || ++itemLength > MAX_LAST_ITEM_WORDS) return false
      const pattern = itemLength > 1 ? this.patternWithHead(at, stems) : undefined
      if (!pattern) continue
      this.addMention(pattern, from, end)
      return true
    }
    return false
  }

  /** Returns the pattern that consists of the stems `firstStems` and the words from `at` to the end of their list item. */
  private patternWithHead(at: number, firstStems: string[]): Pattern | undefined {
    let stems = firstStems
    for (let next = at; ; next++) {
      const stem = this.stemAt(next)
      if (stem === undefined || !this.hasPrefix([...stems, stem])) return undefined
      stems = [...stems, stem]
      if (!this.endsItem(next + 1)) continue
      const pattern = this.patterns.get(stems.join(' '))
      return pattern?.isVariant ? undefined : pattern
    }
  }

  /**
   * Removes mentions that overlap a better one. A mention is better if it has more words, then if it is no variant, then if it
   * has more characters, then if it comes first.
   */
  private removeOverlaps(): FoundMention[] {
    const mentionLength = ({ from, to }: FoundMention) => this.ends[to - 1]! - this.starts[from]!
    const sortedMentions = this.foundMentions.toSorted(
      (a, b) =>
        b.to - b.from - (a.to - a.from) ||
        Number(a.isVariant) - Number(b.isVariant) ||
        mentionLength(b) - mentionLength(a) ||
        a.from - b.from,
    )
    const keptMentions: FoundMention[] = []
    for (const mention of sortedMentions) {
      if (keptMentions.every((other) => mention.to <= other.from || mention.from >= other.to))
        keptMentions.push(mention)
    }
    return keptMentions
  }

  /** If the mention is a separate phrase, returns the label with exactly its words among the labels with the same stems. */
  private labelWithExactWords(label: Label, from: number, to: number): Label {
    const isIsolated = this.gaps[from] === GAP_BREAK && (to === this.words.length || this.gaps[to] === GAP_BREAK)
    const mentionedText = this.words.slice(from, to).join(' ')
    const hasWords = ({ words }: Label) => words.join(' ') === mentionedText
    return !isIsolated || hasWords(label) ? label : (this.labelsWithSameStems.get(label)?.find(hasWords) ?? label)
  }
}

function labelsOf(entry: SkillEntry): Label[] {
  const { number, name } = entry
  const labels = [name, ...aliasesOf(entry)].map((text, i) => {
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

/** Words of random labels. Each is long enough to be a mention alone. Some have agent nouns ("loader") and Hindi translations. */
const VOCABULARY =
  'truck trucks motor motors valve boiler gasket turbine loading loaded charging balancing alignment installation installations inspection servicing rotation cyber physical fabric'.split(
    ' ',
  )
/** Other words of random texts: inflections, agent nouns, Hindi words, and words that no label contains. */
const OTHER_WORDS =
  'valves boilers turbines load loader charger balancer installer fitter technician inspector mechanic lagana lagane marammat cyberphysical cyberphysicals motorvalve helper quite heavy xyz'.split(
    ' ',
  )
const LINKING_WORDS = 'of the ka ki'.split(' ')
const OTHER_FUNCTION_WORDS = 'and or aur for with in'.split(' ')

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
  { weight: 2, arbitrary: fc.constantFrom(...OTHER_FUNCTION_WORDS) },
)
/** Returns the label, unchanged or with linking words between its words, depending on the number `choice`. */
function mentionText(label: string, choice: number): string {
  return label.replaceAll(' ', [' ', ' ', ' of ', ' of the ', ' ki of the '][Math.floor(choice / 3) % 5]!)
}
const separator = fc.constantFrom(' ', ' ', ' ', ' ', ' ', ' ', '-', ', ', ', ', '/', '. ', '\n')

test('the index and the reference implementation find the same labels', () => {
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
            .map(
              ([word, choice, sign]) =>
                (choice % 3 === 0 ? mentionText(labels[choice % labels.length]!, choice) : word) + sign,
            )
            .join('')
          const foundBySkillIndex = index
            .labelsIn(text)
            .map(({ entryIndex, start, end }) => `${index.numberOf(entryIndex)}:${start}-${end}`)
          mentionCount += foundBySkillIndex.length
          assert.deepEqual(foundBySkillIndex.sort(), reference.extract(text).sort(), text)
        }
      },
    ),
    { numRuns: 100 },
  )
  assert.ok(mentionCount > 700, `only ${mentionCount} mentions were compared`)
})

test('no rule that the reference does not implement applies to the words of the random catalogues', () => {
  const excludedWords = new Set([...nameParts['joined words'], ...nameParts.activities, ...everydayWords])
  for (const word of [...VOCABULARY, ...OTHER_WORDS]) {
    assert.ok(VOCABULARY.indexOf(word) < 0 || (word.length > 4 && !excludedWords.has(word)), word)
    assert.equal(advertisementPhraseKind(new Tokens().read(word), 0, 1), 0, word)
  }
})
