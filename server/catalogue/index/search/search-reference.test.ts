import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { editDistance, prefixEditDistance, typoTolerance } from '../../../platform/text/edit-distance.ts'
import { extraLabelBonus, labelScore } from '../labels/label-score.ts'
import { ALIAS, BARE_NAME, NAME, type SkillEntry } from '../labels/labels.ts'
import { buildPriors } from '../labels/prior.ts'
import { isFiller, stripHiringWords, stripRoleWords } from '../lexicon/filler-words.ts'
import { stemOf } from '../lexicon/stems.ts'
import { buildSkillIndexSync } from '../skill-index.ts'
import { isDevanagari, phoneticKey } from '../text/phonetics.ts'
import { runSync } from '../text/time-slicing.ts'
import { tokenize, wordHash } from '../text/tokens.ts'
import {
  CERTAIN_PREFIX_LENGTH,
  EXACT_AGREEMENT,
  HOMOPHONE_AGREEMENT,
  isWholeWordAgreement,
  ONE_LETTER_PREFIX_AGREEMENT,
  ONE_TYPO_AGREEMENT,
  OTHER_SCRIPT_AGREEMENT,
  PREFIX_AGREEMENT,
  SAME_STEM_AGREEMENT,
  SUBSTRING_AGREEMENT,
  TWO_TYPOS_AGREEMENT,
  TYPO_PREFIX_AGREEMENT,
} from './query-words.ts'
import {
  compressScore,
  exactScore,
  MAX_DOUBTFUL_SCORE,
  SCATTERED_WORDS_FACTOR,
  SUB_SKILL_PRIOR_FACTOR,
  WHOLE_LABEL_BONUS,
} from './scores.ts'
import {
  INFLECTED_PREFIX_AGREEMENT,
  MAX_FREQUENCY_BONUS,
  MAX_QUERY_WORDS,
  MIN_PARTIAL_MATCH_FRACTION,
} from './search.ts'

/**
 * A slow and simple implementation of search, compared with the index on random catalogues and queries. It matches every word of
 * the query with every word of the catalogue, and every label of every skill with the query; it has no posting lists, no
 * trigrams, no bit tricks and no candidates. Results must be equal: skills, scores, order and total.
 *
 * It shares with the index the constants, the pure scoring functions (label-score.ts, scores.ts), the tokenizer, the stemmer, the
 * phonetic key and the edit distance, all of which have tests of their own. It follows these deliberate approximations:
 *
 * - A one-word query scores, per skill and word of the catalogue, only the label that is best for that word (`bestLabel`).
 * - A two-letter word counts as a suffix only as the first word, and only next to another word of two or more letters.
 * - A query of single letters requires the one with the fewest postings.
 *
 * Queries are skipped if they depend on an approximate lookup of similar words (`isApproximate`); near-words.test.ts covers those.
 */

interface ReferenceLabel {
  words: string[]
  kind: number
  /** Number of letters without fillers. */
  length: number
}

interface ReferenceSkill {
  entry: SkillEntry
  labels: ReferenceLabel[]
  /** Prior of the skill, in thousandths. */
  prior: number
  importedOnly: boolean
  groupStems: Set<string>
}

interface ReferenceHit {
  number: number
  score: number
}

const NOTE_IN_BRACKETS = /\s*[([][^)\]]*[)\]]\s*$/
const countLetters = (words: readonly string[]) => words.reduce((sum, word) => sum + word.length, 0)
const isContentWord = (word: string) => !isFiller(wordHash(word))
const isAbbreviation = (word: string) => /^(?:([bcdfghj-np-tv-z])\1.{0,3}|[b-df-hj-np-tv-z]+)$/.test(word)

function labelsOf({ name, aliases }: SkillEntry): ReferenceLabel[] {
  const labels: ReferenceLabel[] = []
  const add = (text: string, kind: number) => {
    const words = tokenize(text)
    const content = words.filter(isContentWord)
    if (words.length > 0 && !labels.some((label) => label.words.join(' ') === words.join(' ')))
      labels.push({ words, kind, length: countLetters(content.length > 0 ? content : words) })
  }
  add(name, NAME)
  if (NOTE_IN_BRACKETS.test(name)) add(name.replace(NOTE_IN_BRACKETS, ''), BARE_NAME)
  for (const alias of aliases) add(alias, ALIAS)
  return labels
}

/** How a word of the query agrees with each word of the catalogue. */
interface QueryTerm {
  text: string
  isFirst: boolean
  required: boolean
  agreements: Map<string, number>
  /** Words that end with a two-letter query word; they count only inside labels. */
  wordsWithSuffix: Set<string>
}

class ReferenceSearch {
  private readonly skills: ReferenceSkill[]
  private readonly vocabulary: string[]
  private hits = new Map<ReferenceSkill, { step: number; length: number }>()
  private bestScore = 0
  /** Set if a query depends on an approximate lookup of similar words. */
  isApproximate = false

  constructor(entries: SkillEntry[]) {
    const sortedEntries = [...entries].sort((a, b) => a.number - b.number)
    const priors = runSync(buildPriors(sortedEntries))
    this.skills = sortedEntries.map((entry, i) => ({
      entry,
      labels: labelsOf(entry),
      prior: priors[i]!,
      importedOnly: entry.number >= 1_000_000 && !entry.verifiable,
      groupStems: new Set(
        tokenize(entry.sub?.name ?? '')
          .filter(isContentWord)
          .map(stemOf),
      ),
    }))
    this.vocabulary = [...new Set(this.skills.flatMap(({ labels }) => labels.flatMap(({ words }) => words)))]
  }

  search(query: string): { skills: ReferenceHit[]; total: number } {
    this.hits = new Map()
    this.bestScore = 0
    this.isApproximate = false
    const words = [...new Set(tokenize(query))].slice(0, MAX_QUERY_WORDS)
    if (words.length > 0) {
      this.rankReading(words, false)
      const wordsWithoutHiring = stripHiringWords(words)
      if (this.bestScore <= MAX_DOUBTFUL_SCORE && wordsWithoutHiring.length < words.length)
        this.rankReading(wordsWithoutHiring, false)
      const contentWords = stripRoleWords(wordsWithoutHiring)
      if (this.hits.size === 0 && contentWords.length < words.length) this.rankReading(contentWords, false)
      if (this.bestScore <= MAX_DOUBTFUL_SCORE)
        for (const joined of this.joinedReadings(words)) this.rankReading(joined, false)
      if (this.hits.size === 0) for (const split of this.splitReadings(words)) this.rankReading(split, false)
      if (this.hits.size === 0) this.rankReading(words, true)
    }
    const skills = [...this.hits]
      .sort(([a, x], [b, y]) => y.step - x.step || x.length - y.length || a.entry.number - b.entry.number)
      .map(([{ entry }, { step }]) => ({ number: entry.number, score: step / 10_000 }))
    return { skills, total: skills.length }
  }

  /** Returns all readings of the query with two adjacent words joined to a word of the catalogue. */
  private joinedReadings(words: string[]): string[][] {
    return words.slice(1).flatMap((next, i) => {
      const joined = words[i]! + next
      return this.vocabulary.includes(joined) ? [[...words.slice(0, i), joined, ...words.slice(i + 2)]] : []
    })
  }

  /** Returns all readings of the query with a word split into two words of the catalogue of at least two letters. */
  private splitReadings(words: string[]): string[][] {
    return words.flatMap((word, i) =>
      Array.from({ length: Math.max(0, word.length - 3) }, (_, at) => [word.slice(0, at + 2), word.slice(at + 2)])
        .filter((parts) => parts.every((part) => this.vocabulary.includes(part)))
        .map((parts) => [...words.slice(0, i), ...parts, ...words.slice(i + 1)].slice(0, MAX_QUERY_WORDS)),
    )
  }

  /** Keeps the better of two scores of a skill: the higher, then the one with the shorter label. */
  private add(skill: ReferenceSkill, score: number, labelLength: number): void {
    const hit = { step: Math.floor(score * 10_000), length: Math.min(1023, labelLength) }
    const hitBefore = this.hits.get(skill)
    if (!hitBefore || hit.step > hitBefore.step || (hit.step === hitBefore.step && hit.length < hitBefore.length))
      this.hits.set(skill, hit)
    this.bestScore = Math.max(this.bestScore, score)
  }

  private rankReading(words: string[], lenient: boolean): void {
    const terms = words.map((text, i) => this.expandWord(text, i === 0, i === words.length - 1, lenient))
    const requiredTerms = terms.filter((term) => term.required)
    if (terms.length === 1) this.rankOneWord(terms[0]!, 1)
    else if (requiredTerms.length === 1) {
      const [term] = requiredTerms
      this.rankOneWord(term!, term!.text.length / countLetters(words))
      const optionalTerms = terms.filter((other) => other !== term)
      for (const skill of this.skills)
        if (contains(skill, term!) && optionalTerms.some((letter) => contains(skill, letter)))
          this.scoreSkill(skill, terms)
    } else {
      const rarest = [...terms].sort((a, b) => this.countPostings(a) - this.countPostings(b))[0]!
      for (const skill of this.skills)
        if (requiredTerms.length > 0 || contains(skill, rarest)) this.scoreSkill(skill, terms)
      if (lenient && this.hits.size === 0) this.rankSomeWords(terms)
    }
  }

  /** Finds the agreement of each word of the catalogue with a word of the query. */
  private expandWord(text: string, isFirst: boolean, isLast: boolean, lenient: boolean): QueryTerm {
    const { vocabulary } = this
    const agreements = new Map<string, number>()
    const mark = (words: string[], agreement: number) => {
      for (const word of words) agreements.set(word, Math.max(agreement, agreements.get(word) ?? 0))
    }
    const isKnown = vocabulary.includes(text)
    const wordsWithPrefix = vocabulary.filter((word) =>
      text.length > 1 || isLast ? word.startsWith(text) : word === text,
    )
    mark(wordsWithPrefix, PREFIX_AGREEMENT)
    if (isKnown) {
      mark([text], EXACT_AGREEMENT)
      mark(
        vocabulary.filter((word) => stemOf(word) === stemOf(text)),
        SAME_STEM_AGREEMENT,
      )
      if (isDevanagari(text))
        mark(
          this.homophones(text).filter((word) => !isDevanagari(word)),
          OTHER_SCRIPT_AGREEMENT,
        )
    }
    const term = {
      text,
      isFirst,
      required: text.length > 1 || (isFirst && isLast),
      agreements,
      wordsWithSuffix: new Set<string>(),
    }
    if (isLast && !lenient && text.length >= CERTAIN_PREFIX_LENGTH && wordsWithPrefix.length > 0) return term
    if (!isKnown || lenient) {
      mark(this.homophones(text), HOMOPHONE_AGREEMENT)
      mark(this.typos(text, 1), ONE_TYPO_AGREEMENT)
      mark(this.typos(text, 2), TWO_TYPOS_AGREEMENT)
    }
    if (text.length > 2 && (isFirst || lenient || !isKnown))
      mark(
        vocabulary.filter((word) => word.indexOf(text, 1) > 0),
        SUBSTRING_AGREEMENT,
      )
    else if (text.length === 2 && isFirst && !isLast)
      term.wordsWithSuffix = new Set(vocabulary.filter((word) => word.endsWith(text)))
    if (!isKnown && (lenient || agreements.size === 0)) mark(this.typoPrefixes(text), TYPO_PREFIX_AGREEMENT)
    return term
  }

  private homophones(text: string): string[] {
    const key = phoneticKey(text)
    return this.vocabulary.filter(
      (word) => key !== '' && word !== text && word.length > 2 && phoneticKey(word) === key && !isAbbreviation(word),
    )
  }

  private typos(text: string, edits: number): string[] {
    const foundWords = this.vocabulary.filter((word) => {
      const tolerance = typoTolerance(Math.max(word.length, text.length))
      return edits <= tolerance && editDistance(text, word, tolerance) === edits
    })
    // Words of 6 to 8 letters have too few trigrams to find every word two edits away.
    if (edits === 2 && text.length <= 8 && foundWords.length > 0) this.isApproximate = true
    return foundWords
  }

  private typoPrefixes(text: string): string[] {
    if (typoTolerance(text.length) === 0) return []
    const foundWords = this.vocabulary.filter(
      (word) => word.length > text.length && prefixEditDistance(text, word, 1) <= 1,
    )
    // Words of 4 or 5 letters have too few trigrams to find every prefix one edit away.
    if (text.length <= 5 && foundWords.length > 0) this.isApproximate = true
    return foundWords
  }

  /** Returns the number of skills that contain a word of the catalogue. */
  private countSkills(word: string): number {
    return this.skills.filter(({ labels }) => labels.some(({ words }) => words.includes(word))).length
  }

  private countPostings(term: QueryTerm): number {
    return [...term.agreements.keys()].reduce((sum, word) => sum + this.countSkills(word), 0)
  }

  private rankOneWord({ text, agreements }: QueryTerm, partOfQuery: number): void {
    const isKnown = agreements.get(text) === EXACT_AGREEMENT
    const isPrefixed = (word: string) => word.startsWith(text) && agreements.get(word)! >= PREFIX_AGREEMENT
    const rangePostings = [...agreements.keys()]
      .filter(isPrefixed)
      .reduce((sum, word) => sum + this.countSkills(word), 0)
    for (const [word, agreed] of agreements) {
      let agreement = agreed
      let typedLetters = text.length
      let isWhole = isWholeWordAgreement(agreed)
      if (word === text) isWhole = true
      else if (isPrefixed(word)) {
        isWhole = isKnown && stemOf(word) === stemOf(text)
        const frequency = this.countSkills(word) / rangePostings
        const prefix = text.length > 1 ? PREFIX_AGREEMENT : ONE_LETTER_PREFIX_AGREEMENT
        agreement = isWhole ? INFLECTED_PREFIX_AGREEMENT : prefix + MAX_FREQUENCY_BONUS * frequency
      }
      if (isWhole) typedLetters = word.length
      for (const skill of this.skills) this.scoreWord(skill, word, agreement, typedLetters, isWhole, partOfQuery)
    }
  }

  /** Scores a skill for one word of the catalogue, of which `typed` letters were typed. */
  private scoreWord(
    skill: ReferenceSkill,
    word: string,
    agreement: number,
    typedLetters: number,
    isWhole: boolean,
    partOfQuery: number,
  ): void {
    const bestOccurrence = bestLabel(skill, word)
    if (!bestOccurrence) return
    const { begins, ends, isWholeLabel, kind, length, occurrences } = bestOccurrence
    if (agreement === EXACT_AGREEMENT && partOfQuery === 1 && isWholeLabel) {
      this.add(skill, exactScore(kind, skill.importedOnly), length)
      return
    }
    let score =
      labelScore(Math.min(1, typedLetters / length), begins, ends, true, kind === ALIAS) *
      agreement *
      0.01 *
      partOfQuery
    score += (skill.groupStems.has(stemOf(word)) ? SUB_SKILL_PRIOR_FACTOR : 1) * 0.001 * skill.prior
    if (isWhole) score += extraLabelBonus(occurrences - 1)
    else if (typedLetters > 1 && isWholeLabel) score += WHOLE_LABEL_BONUS
    this.add(skill, compressScore(score), length)
  }

  /** Scores a skill by the best label that contains all required words, or by words scattered over its labels. */
  private scoreSkill(skill: ReferenceSkill, terms: QueryTerm[]): void {
    const matches = skill.labels.flatMap((label) => {
      const termMatches = terms.map((term) => matchTerm(term, label.words))
      return termMatches.every(({ agreement }, i) => agreement > 0 || !terms[i]!.required)
        ? [{ label, found: termMatches }]
        : []
    })
    const exactMatch = matches.find(
      ({ label, found }) =>
        label.words.length === terms.length &&
        found.every(({ agreement, position }, i) => agreement === EXACT_AGREEMENT && position === i),
    )
    if (exactMatch) {
      this.add(skill, exactScore(exactMatch.label.kind, skill.importedOnly), exactMatch.label.length)
      return
    }
    let best = 0
    let length = 0
    for (const { label, found } of matches) {
      const score = scoreLabel(label, terms, found)
      if (score > best) [best, length] = [score, label.length]
    }
    if (matches.length === 0) {
      const words = skill.labels.flatMap((label) => label.words)
      const termMatches = terms.map((term) => matchTerm(term, words))
      if (termMatches.some(({ agreement }, i) => agreement === 0 && terms[i]!.required)) return
      best =
        (SCATTERED_WORDS_FACTOR * sum(termMatches, ({ agreement }, i) => (terms[i]!.text.length * agreement) / 100)) /
        countTermLetters(terms)
      length = skill.labels[0]!.length
      if (best === 0) return
    }
    const bonus = matches.length > 1 ? extraLabelBonus(matches.length - 1) : 0
    this.add(skill, compressScore(best + (bonus + (0.001 * skill.prior) / terms.length)), length)
  }

  /** Scores the skills that contain at least half of the query, by letters, in any of their labels. */
  private rankSomeWords(terms: QueryTerm[]): void {
    for (const skill of this.skills) {
      let agreed = 0
      for (const term of terms) {
        const agreements = skill.labels.flatMap(({ words }) => words.map((word) => term.agreements.get(word) ?? 0))
        const points = (term.text.length * Math.max(0, ...agreements)) / 100
        // The index adds up 32-bit numbers.
        agreed = Math.fround(agreed + points)
      }
      if (agreed / countTermLetters(terms) >= MIN_PARTIAL_MATCH_FRACTION)
        this.add(
          skill,
          (SCATTERED_WORDS_FACTOR * MIN_PARTIAL_MATCH_FRACTION * agreed) / countTermLetters(terms),
          skill.labels[0]!.length,
        )
    }
  }
}

const countTermLetters = (terms: QueryTerm[]) => countLetters(terms.map(({ text }) => text))

function sum<T>(items: T[], value: (item: T, i: number) => number): number {
  return items.reduce((result, item, i) => result + value(item, i), 0)
}

function contains({ labels }: ReferenceSkill, { agreements }: QueryTerm): boolean {
  return labels.some(({ words }) => words.some((word) => agreements.has(word)))
}

interface TermMatch {
  agreement: number
  /** Index in the label; -1 without agreement. */
  position: number
}

/** Returns the best agreement of a query word in a label. Among equal ones the first word of a query takes the first, the others the last. */
function matchTerm({ agreements, wordsWithSuffix, isFirst }: QueryTerm, words: string[]): TermMatch {
  const wordMatches = words.map((word, position) => ({ agreement: agreements.get(word) ?? 0, position }))
  for (const match of wordMatches)
    if (wordsWithSuffix.has(words[match.position]!)) match.agreement = Math.max(SUBSTRING_AGREEMENT, match.agreement)
  const agreement = Math.max(0, ...wordMatches.map((match) => match.agreement))
  const bestMatches = wordMatches.filter((match) => match.agreement === agreement)
  return agreement === 0 ? { agreement: 0, position: -1 } : isFirst ? bestMatches[0]! : bestMatches.at(-1)!
}

function scoreLabel({ words, kind, length }: ReferenceLabel, terms: QueryTerm[], termMatches: TermMatch[]): number {
  const positions = termMatches.filter(({ agreement }) => agreement > 0).map(({ position }) => position)
  const isOrdered = positions.every((position, i) => i === 0 || position > positions[i - 1]!)
  const lastMatch = termMatches.at(-1)!
  const endsLabel = lastMatch.agreement === EXACT_AGREEMENT && lastMatch.position === words.length - 1
  const agreedLetters = sum(termMatches, ({ agreement }, i) => terms[i]!.text.length * agreement)
  const coverage = Math.min(1, countTermLetters(terms) / length)
  return (
    (labelScore(coverage, termMatches[0]!.position === 0, endsLabel, isOrdered, kind === ALIAS) * agreedLetters) /
    countTermLetters(terms) /
    100
  )
}

/** Returns the label of a skill that is best for a word: the word alone, else the highest label score; and how often the word occurs. */
function bestLabel({ labels }: ReferenceSkill, word: string) {
  const occurrences = labels.flatMap((label) =>
    label.words.flatMap((other, position) => {
      if (other !== word) return []
      const [begins, ends] = [position === 0, position === label.words.length - 1]
      const isWholeLabel = label.words.length === 1
      const isAlias = label.kind === ALIAS
      const length = Math.min(255, label.length)
      const score = labelScore(Math.min(1, word.length / length), begins, ends, true, isAlias)
      return { begins, ends, isWholeLabel, kind: label.kind, length, rank: isWholeLabel ? (isAlias ? 2 : 3) : score }
    }),
  )
  const bestOccurrence = occurrences.reduce<(typeof occurrences)[number] | undefined>(
    (before, next) => (!before || next.rank > before.rank ? next : before),
    undefined,
  )
  return bestOccurrence && { ...bestOccurrence, occurrences: occurrences.length }
}

/** Words that share prefixes, substrings and stems, or are a typo, homophone or other script of each other. */
const VOCABULARY =
  'a b c weld welds welding welder wheel arc pump pumps pumping paint painting painter pint bricklaying brick laying mason masonry carpentry carpenter data base database entry entries java javascript script bijli bijlee बिजली mistri मिस्त्री ka kaam का काम operator helper chahiye required near forklift fork lift lifting ac ccna khana 2 c++ colour color inspection inspect inspector electric electrician electricity'.split(
    ' ',
  )

const syllable = fc.constantFrom('ba', 'kal', 'ran', 'nor', 'pal', 'fer', 'ter', 'eng', 'el')
const inventedWord = fc.array(syllable, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''))
const anyWord = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...VOCABULARY) },
  { weight: 1, arbitrary: inventedWord },
)
const labelText = fc.array(anyWord, { minLength: 1, maxLength: 4 }).map((words) => words.join(' '))
const nameText = fc
  .tuple(labelText, fc.boolean(), labelText)
  .map(([text, hasNote, note]) => (hasNote ? `${text} (${note})` : text))
const skillFields = fc.record({
  name: fc.oneof({ weight: 5, arbitrary: labelText }, { weight: 1, arbitrary: nameText }),
  aliases: fc.array(labelText, { maxLength: 4 }),
  verifiable: fc.boolean(),
  imported: fc.boolean(),
  group: fc.option(fc.nat({ max: 2 }), { nil: undefined }),
})
const catalogueEntries = fc
  .tuple(fc.array(skillFields, { minLength: 1, maxLength: 15 }), fc.array(labelText, { minLength: 3, maxLength: 3 }))
  .map(([skills, groupNames]) =>
    skills.map(({ name, aliases, verifiable, imported, group }, i): SkillEntry => {
      const entry = { number: (imported ? 1_000_000 : 0) + i + 1, name, aliases, verifiable }
      if (group === undefined) return entry
      return { ...entry, sub: { number: group, name: groupNames[group]!, master: { number: 1 } } }
    }),
  )

/** A word as typed: complete, a prefix, a substring, or with one edit. */
const typedWord = fc.tuple(anyWord, fc.nat({ max: 9 }), fc.nat(), fc.nat()).map(([text, edit, a, b]) => {
  const at = a % text.length
  if (edit < 4) return text
  if (edit === 4) return text.slice(0, 1 + at)
  if (edit === 5) return text.slice(at, at + 2 + (b % 5))
  if (edit === 6) return text.slice(0, at) + text.slice(at + 1)
  if (edit === 7) return `${text.slice(0, at)}x${text.slice(at)}`
  if (edit === 8) return text.slice(0, at) + (text[at + 1] ?? '') + text[at] + text.slice(at + 2)
  return text.slice(-2)
})
const typedQuery = fc
  .array(typedWord, { minLength: 1, maxLength: 4 })
  .chain((words) => fc.constantFrom(' ', ' ', ' ', '').map((separator) => words.join(separator)))

test('search returns the same skills, scores and order as the reference', () => {
  let comparedQueries = 0
  fc.assert(
    fc.property(catalogueEntries, fc.array(typedQuery, { minLength: 12, maxLength: 12 }), (entries, queries) => {
      const index = buildSkillIndexSync(entries)
      const reference = new ReferenceSearch(entries)
      for (const text of queries) {
        const expected = reference.search(text)
        if (reference.isApproximate) continue
        comparedQueries++
        const { skills, total } = index.search(text, { limit: 100 })
        assert.deepEqual({ skills: skills.map(({ number, score }) => ({ number, score })), total }, expected, text)
      }
    }),
    { numRuns: 100 },
  )
  assert.ok(comparedQueries > 500, `only ${comparedQueries} queries were compared`)
})
