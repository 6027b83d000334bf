import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { editDistance, prefixEditDistance, typoTolerance } from '../../../platform/text/edit-distance.ts'
import { extraLabelBonus, labelScore } from '../labels/label-score.ts'
import { ALIAS, aliasesOf, BARE_NAME, NAME, type SkillEntry } from '../labels/labels.ts'
import { buildPriors } from '../labels/prior.ts'
import { isFiller, stripHiringWords, stripRoleWords } from '../lexicon/filler-words.ts'
import { stemOf } from '../lexicon/stems.ts'
import { buildSkillIndexSync } from '../skill-index.ts'
import { consonantKey, isDevanagari, phoneticKey } from '../text/phonetics.ts'
import { runSync } from '../text/time-slicing.ts'
import { tokenize, wordHash } from '../text/tokens.ts'
import {
  EXACT_AGREEMENT,
  HOMOPHONE_AGREEMENT,
  isWholeWordAgreement,
  MIN_CERTAIN_PREFIX_LENGTH,
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
  exactMatchScore,
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
 * A slow and simple reference implementation of search. The test compares it with the index on random catalogues and queries. Both
 * must return the same skills, scores, order and total.
 *
 * The reference compares every query word with every catalogue word, and every label of every skill with the query. It has no
 * posting lists, no trigrams, no packed bits and no preselection of skills. It uses the same constants, scoring functions
 * (label-score.ts, scores.ts), tokenizer, stemmer, phonetic keys and edit distance as the index. These have their own tests.
 *
 * Some rules of the index exist only to make it fast. The reference follows them, too:
 *
 * - A query of one word scores only one label per skill and catalogue word: the best label for that word (`bestLabel`).
 * - A two-letter query word matches as a suffix only if it is the first word and another word has two or more letters.
 * - In a query of single letters, a skill must match the letter with the fewest postings.
 *
 * The index does not find all similar words of short words. Queries that depend on them are skipped (`isApproximate`);
 * near-words.test.ts covers them.
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
  /** Whether the skill was imported and is not preferred. */
  isOrdinaryImport: boolean
  /** Stems of the name of the skill's sub-skill. */
  subSkillStems: Set<string>
}

interface ReferenceHit {
  number: number
  score: number
}

const NOTE_IN_BRACKETS = /\s*[([][^)\]]*[)\]]\s*$/
const countLetters = (words: readonly string[]) => words.reduce((sum, word) => sum + word.length, 0)
const isContentWord = (word: string) => !isFiller(wordHash(word))
const isAbbreviation = (word: string) => /^(?:([bcdfghj-np-tv-z])\1.{0,3}|[b-df-hj-np-tv-z]+)$/.test(word)

function labelsOf(entry: SkillEntry): ReferenceLabel[] {
  const { name } = entry
  const labels: ReferenceLabel[] = []
  const add = (text: string, kind: number) => {
    const words = tokenize(text)
    const contentWords = words.filter(isContentWord)
    if (words.length > 0 && !labels.some((label) => label.words.join(' ') === words.join(' ')))
      labels.push({ words, kind, length: countLetters(contentWords.length > 0 ? contentWords : words) })
  }
  add(name, NAME)
  if (NOTE_IN_BRACKETS.test(name)) add(name.replace(NOTE_IN_BRACKETS, ''), BARE_NAME)
  for (const alias of aliasesOf(entry)) add(alias, ALIAS)
  return labels
}

/** A query word with its agreement with each catalogue word, in percent. */
interface QueryTerm {
  text: string
  isFirst: boolean
  required: boolean
  agreements: Map<string, number>
  /** Catalogue words that end with the two-letter query word. Used only to compare labels, not to count postings. */
  wordsWithSuffix: Set<string>
}

class ReferenceSearch {
  private readonly skills: ReferenceSkill[]
  private readonly vocabulary: string[]
  /** Best hit of each skill. `scoreStep` is the score in ten-thousandths; `length` is the number of letters of the label. */
  private hits = new Map<ReferenceSkill, { scoreStep: number; length: number }>()
  private bestScore = 0
  /** Set if the last query has similar words that the index may not find. */
  isApproximate = false

  constructor(entries: SkillEntry[]) {
    const sortedEntries = [...entries].sort((a, b) => a.number - b.number)
    const priors = runSync(buildPriors(sortedEntries))
    this.skills = sortedEntries.map((entry, i) => ({
      entry,
      labels: labelsOf(entry),
      prior: priors[i]!,
      isOrdinaryImport: entry.number >= 1_000_000 && !entry.isPreferred,
      subSkillStems: new Set(
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
      this.rankVariant(words, false)
      const wordsWithoutHiring = stripHiringWords(words)
      if (this.bestScore <= MAX_DOUBTFUL_SCORE && wordsWithoutHiring.length < words.length)
        this.rankVariant(wordsWithoutHiring, false)
      const contentWords = stripRoleWords(wordsWithoutHiring)
      if (this.hits.size === 0 && contentWords.length < words.length) this.rankVariant(contentWords, false)
      if (this.bestScore <= MAX_DOUBTFUL_SCORE)
        for (const variant of this.joinedVariants(words)) this.rankVariant(variant, false)
      if (this.hits.size === 0) for (const variant of this.splitVariants(words)) this.rankVariant(variant, false)
      if (this.hits.size === 0) this.rankVariant(words, true)
    }
    const skills = [...this.hits]
      .sort(
        ([skillA, a], [skillB, b]) =>
          b.scoreStep - a.scoreStep || a.length - b.length || skillA.entry.number - skillB.entry.number,
      )
      .map(([{ entry }, { scoreStep }]) => ({ number: entry.number, score: scoreStep / 10_000 }))
    return { skills, total: skills.length }
  }

  /** Returns the variants of the query in which two adjacent words are joined to one catalogue word. */
  private joinedVariants(words: string[]): string[][] {
    return words.slice(1).flatMap((next, i) => {
      const joinedWord = words[i]! + next
      return this.vocabulary.includes(joinedWord) ? [[...words.slice(0, i), joinedWord, ...words.slice(i + 2)]] : []
    })
  }

  /** Returns the variants of the query in which a word is split into two catalogue words of at least two letters. */
  private splitVariants(words: string[]): string[][] {
    return words.flatMap((word, i) =>
      Array.from({ length: Math.max(0, word.length - 3) }, (_, at) => [word.slice(0, at + 2), word.slice(at + 2)])
        .filter((parts) => parts.every((part) => this.vocabulary.includes(part)))
        .map((parts) => [...words.slice(0, i), ...parts, ...words.slice(i + 1)].slice(0, MAX_QUERY_WORDS)),
    )
  }

  /**
   * Adds a hit. If the skill already has one, keeps the hit with the higher score or, for equal scores, with the shorter label.
   */
  private add(skill: ReferenceSkill, score: number, labelLength: number): void {
    const hit = { scoreStep: Math.floor(score * 10_000), length: Math.min(1023, labelLength) }
    const hitBefore = this.hits.get(skill)
    if (
      !hitBefore ||
      hit.scoreStep > hitBefore.scoreStep ||
      (hit.scoreStep === hitBefore.scoreStep && hit.length < hitBefore.length)
    )
      this.hits.set(skill, hit)
    this.bestScore = Math.max(this.bestScore, score)
  }

  private rankVariant(words: string[], isLenient: boolean): void {
    const terms = words.map((text, i) => this.expandWord(text, i === 0, i === words.length - 1, isLenient))
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
      if (isLenient && this.hits.size === 0) this.rankSomeWords(terms)
    }
  }

  /** Returns a query word with its agreement with each catalogue word. */
  private expandWord(text: string, isFirst: boolean, isLast: boolean, isLenient: boolean): QueryTerm {
    const { vocabulary } = this
    const agreements = new Map<string, number>()
    const setAgreement = (words: string[], agreement: number) => {
      for (const word of words) agreements.set(word, Math.max(agreement, agreements.get(word) ?? 0))
    }
    const isKnown = vocabulary.includes(text)
    const wordsWithPrefix = vocabulary.filter((word) =>
      text.length > 1 || isLast ? word.startsWith(text) : word === text,
    )
    setAgreement(wordsWithPrefix, PREFIX_AGREEMENT)
    if (isKnown) {
      setAgreement([text], EXACT_AGREEMENT)
      setAgreement(
        vocabulary.filter((word) => stemOf(word) === stemOf(text)),
        SAME_STEM_AGREEMENT,
      )
      if (isDevanagari(text))
        setAgreement(
          [...this.homophones(text).filter((word) => !isDevanagari(word)), ...this.transliterations(text)],
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
    if (isLast && !isLenient && text.length >= MIN_CERTAIN_PREFIX_LENGTH && wordsWithPrefix.length > 0) return term
    if (!isKnown || isLenient) {
      setAgreement(this.homophones(text), HOMOPHONE_AGREEMENT)
      if (!isKnown) setAgreement(this.transliterations(text), HOMOPHONE_AGREEMENT)
      setAgreement(this.typos(text, 1), ONE_TYPO_AGREEMENT)
      setAgreement(this.typos(text, 2), TWO_TYPOS_AGREEMENT)
    }
    if (text.length > 2 && (isFirst || isLenient || !isKnown))
      setAgreement(
        vocabulary.filter((word) => word.indexOf(text, 1) > 0),
        SUBSTRING_AGREEMENT,
      )
    else if (text.length === 2 && isFirst && !isLast)
      term.wordsWithSuffix = new Set(vocabulary.filter((word) => word.endsWith(text)))
    if (!isKnown && (isLenient || agreements.size === 0)) setAgreement(this.typoPrefixes(text), TYPO_PREFIX_AGREEMENT)
    return term
  }

  private homophones(text: string): string[] {
    const key = phoneticKey(text)
    return this.vocabulary.filter(
      (word) => key !== '' && word !== text && word.length > 2 && phoneticKey(word) === key && !isAbbreviation(word),
    )
  }

  private transliterations(text: string): string[] {
    const key = isDevanagari(text) ? consonantKey(text) : ''
    return this.vocabulary.filter(
      (word) => key !== '' && word.length >= 5 && !isDevanagari(word) && consonantKey(word) === key,
    )
  }

  private typos(text: string, edits: number): string[] {
    const foundWords = this.vocabulary.filter((word) => {
      const tolerance = typoTolerance(Math.max(word.length, text.length))
      return edits <= tolerance && editDistance(text, word, tolerance) === edits
    })
    // Words of up to 8 letters have too few trigrams to find every word with an edit distance of 2.
    if (edits === 2 && text.length <= 8 && foundWords.length > 0) this.isApproximate = true
    return foundWords
  }

  private typoPrefixes(text: string): string[] {
    if (typoTolerance(text.length) === 0) return []
    const foundWords = this.vocabulary.filter(
      (word) => word.length > text.length && prefixEditDistance(text, word, 1) <= 1,
    )
    // Words of up to 5 letters have too few trigrams to find every prefix with an edit distance of 1.
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

  private rankOneWord({ text, agreements }: QueryTerm, queryFraction: number): void {
    const isKnown = agreements.get(text) === EXACT_AGREEMENT
    const hasPrefix = (word: string) => word.startsWith(text) && agreements.get(word)! >= PREFIX_AGREEMENT
    const prefixPostingCount = [...agreements.keys()]
      .filter(hasPrefix)
      .reduce((sum, word) => sum + this.countSkills(word), 0)
    for (const [word, wordAgreement] of agreements) {
      let agreement = wordAgreement
      let typedLetters = text.length
      let isWholeWord = isWholeWordAgreement(wordAgreement)
      if (word === text) isWholeWord = true
      else if (hasPrefix(word)) {
        isWholeWord = isKnown && stemOf(word) === stemOf(text)
        const frequency = this.countSkills(word) / prefixPostingCount
        const prefixAgreement = text.length > 1 ? PREFIX_AGREEMENT : ONE_LETTER_PREFIX_AGREEMENT
        agreement = isWholeWord ? INFLECTED_PREFIX_AGREEMENT : prefixAgreement + MAX_FREQUENCY_BONUS * frequency
      }
      if (isWholeWord) typedLetters = word.length
      for (const skill of this.skills) this.scoreWord(skill, word, agreement, typedLetters, isWholeWord, queryFraction)
    }
  }

  /** Scores a skill for one catalogue word. `typedLetters` is the number of its letters that were typed. */
  private scoreWord(
    skill: ReferenceSkill,
    word: string,
    agreement: number,
    typedLetters: number,
    isWholeWord: boolean,
    queryFraction: number,
  ): void {
    const bestOccurrence = bestLabel(skill, word)
    if (!bestOccurrence) return
    const { beginsLabel, endsLabel, isWholeLabel, kind, length, occurrences } = bestOccurrence
    if (agreement === EXACT_AGREEMENT && queryFraction === 1 && isWholeLabel) {
      this.add(skill, exactMatchScore(kind, skill.isOrdinaryImport), length)
      return
    }
    let score =
      labelScore(Math.min(1, typedLetters / length), beginsLabel, endsLabel, true, kind === ALIAS) *
      agreement *
      0.01 *
      queryFraction
    score += (skill.subSkillStems.has(stemOf(word)) ? SUB_SKILL_PRIOR_FACTOR : 1) * 0.001 * skill.prior
    if (isWholeWord) score += extraLabelBonus(occurrences - 1)
    else if (typedLetters > 1 && isWholeLabel) score += WHOLE_LABEL_BONUS
    this.add(skill, compressScore(score), length)
  }

  /** Scores a skill by its best label that contains all required words. If there is none, scores all its labels together. */
  private scoreSkill(skill: ReferenceSkill, terms: QueryTerm[]): void {
    const matches = skill.labels.flatMap((label) => {
      const termMatches = terms.map((term) => matchTerm(term, label.words))
      return termMatches.every(({ agreement }, i) => agreement > 0 || !terms[i]!.required)
        ? [{ label, termMatches }]
        : []
    })
    const exactMatch = matches.find(
      ({ label, termMatches }) =>
        label.words.length === terms.length &&
        termMatches.every(({ agreement, position }, i) => agreement === EXACT_AGREEMENT && position === i),
    )
    if (exactMatch) {
      this.add(skill, exactMatchScore(exactMatch.label.kind, skill.isOrdinaryImport), exactMatch.label.length)
      return
    }
    let bestScore = 0
    let length = 0
    for (const { label, termMatches } of matches) {
      const score = scoreLabel(label, terms, termMatches)
      if (score > bestScore) [bestScore, length] = [score, label.length]
    }
    if (matches.length === 0) {
      const words = skill.labels.flatMap((label) => label.words)
      const termMatches = terms.map((term) => matchTerm(term, words))
      if (termMatches.some(({ agreement }, i) => agreement === 0 && terms[i]!.required)) return
      bestScore =
        (SCATTERED_WORDS_FACTOR * sum(termMatches, ({ agreement }, i) => (terms[i]!.text.length * agreement) / 100)) /
        countTermLetters(terms)
      length = skill.labels[0]!.length
      if (bestScore === 0) return
    }
    const bonus = matches.length > 1 ? extraLabelBonus(matches.length - 1) : 0
    this.add(skill, compressScore(bestScore + (bonus + (0.001 * skill.prior) / terms.length)), length)
  }

  /** Scores the skills whose labels together contain at least half of the query's letters. */
  private rankSomeWords(terms: QueryTerm[]): void {
    for (const skill of this.skills) {
      let agreedLetters = 0
      for (const term of terms) {
        const agreements = skill.labels.flatMap(({ words }) => words.map((word) => term.agreements.get(word) ?? 0))
        const points = (term.text.length * Math.max(0, ...agreements)) / 100
        // The index adds up 32-bit floating-point numbers, so the sum is rounded in the same way.
        agreedLetters = Math.fround(agreedLetters + points)
      }
      if (agreedLetters / countTermLetters(terms) >= MIN_PARTIAL_MATCH_FRACTION)
        this.add(
          skill,
          (SCATTERED_WORDS_FACTOR * MIN_PARTIAL_MATCH_FRACTION * agreedLetters) / countTermLetters(terms),
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
  /** Index of the matching word in the label; -1 if no word matches. */
  position: number
}

/**
 * Returns the best agreement of a query word with the words of a label, and its position. If several words have the same agreement,
 * the first query word takes the first of them, and the other query words take the last.
 */
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
  const isInLabelOrder = positions.every((position, i) => i === 0 || position > positions[i - 1]!)
  const lastMatch = termMatches.at(-1)!
  const endsLabel = lastMatch.agreement === EXACT_AGREEMENT && lastMatch.position === words.length - 1
  const agreementSum = sum(termMatches, ({ agreement }, i) => terms[i]!.text.length * agreement)
  const coverage = Math.min(1, countTermLetters(terms) / length)
  return (
    (labelScore(coverage, termMatches[0]!.position === 0, endsLabel, isInLabelOrder, kind === ALIAS) * agreementSum) /
    countTermLetters(terms) /
    100
  )
}

/**
 * Returns the best label of a skill for a catalogue word, and how often the word occurs in all labels. A label that consists only of
 * the word is best; otherwise the label with the highest score.
 */
function bestLabel({ labels }: ReferenceSkill, word: string) {
  const occurrences = labels.flatMap((label) =>
    label.words.flatMap((other, position) => {
      if (other !== word) return []
      const [beginsLabel, endsLabel] = [position === 0, position === label.words.length - 1]
      const isWholeLabel = label.words.length === 1
      const isAlias = label.kind === ALIAS
      const length = Math.min(255, label.length)
      const score = labelScore(Math.min(1, word.length / length), beginsLabel, endsLabel, true, isAlias)
      const rank = isWholeLabel ? (isAlias ? 2 : 3) : score
      return { beginsLabel, endsLabel, isWholeLabel, kind: label.kind, length, rank }
    }),
  )
  const bestOccurrence = occurrences.reduce<(typeof occurrences)[number] | undefined>(
    (before, next) => (!before || next.rank > before.rank ? next : before),
    undefined,
  )
  return bestOccurrence && { ...bestOccurrence, occurrences: occurrences.length }
}

/**
 * Words of the random catalogues. Many have a common prefix, substring or stem, or are typos, homophones or transliterations of
 * each other.
 */
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
  isPreferred: fc.boolean(),
  imported: fc.boolean(),
  group: fc.option(fc.nat({ max: 2 }), { nil: undefined }),
})
const catalogueEntries = fc
  .tuple(fc.array(skillFields, { minLength: 1, maxLength: 15 }), fc.array(labelText, { minLength: 3, maxLength: 3 }))
  .map(([skills, groupNames]) =>
    skills.map(({ name, aliases, isPreferred, imported, group }, i): SkillEntry => {
      const entry = { number: (imported ? 1_000_000 : 0) + i + 1, name, aliases, isPreferred }
      if (group === undefined) return entry
      return { ...entry, sub: { number: group, name: groupNames[group]!, master: { number: 1 } } }
    }),
  )

/** A random word as a user types it: complete, a prefix, a substring, a suffix, or with one typo. */
const typedWord = fc
  .tuple(anyWord, fc.nat({ max: 9 }), fc.nat(), fc.nat())
  .map(([text, edit, positionSeed, lengthSeed]) => {
    const at = positionSeed % text.length
    if (edit < 4) return text
    if (edit === 4) return text.slice(0, 1 + at)
    if (edit === 5) return text.slice(at, at + 2 + (lengthSeed % 5))
    if (edit === 6) return text.slice(0, at) + text.slice(at + 1)
    if (edit === 7) return `${text.slice(0, at)}x${text.slice(at)}`
    if (edit === 8) return text.slice(0, at) + (text[at + 1] ?? '') + text[at] + text.slice(at + 2)
    return text.slice(-2)
  })
const typedQuery = fc
  .array(typedWord, { minLength: 1, maxLength: 4 })
  .chain((words) => fc.constantFrom(' ', ' ', ' ', '').map((separator) => words.join(separator)))

test('search returns the same skills, scores and order as the reference implementation', () => {
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
