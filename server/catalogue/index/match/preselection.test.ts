import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { LENGTH_MASK } from '../labels/postings.ts'
import { buildSkillIndexSync } from '../skill-index.ts'
import type { PhraseWord } from './phrase-words.ts'
import { Preselection } from './preselection.ts'

/**
 * Compares the preselection with a slow and simple reference, which computes the weight of every skill and sorts all skills. It uses
 * the same postings and the same limits.
 */

const MAX_POSTINGS_READ = 20_000
const MAX_SKILLS = 192
const MIN_WEIGHT = 0.01
const LABEL_LENGTH_SHARE = 0.3
const WEIGHT_STEPS = 10_000
const SEED = 106

/** The names have few different words and repeat, so that many skills have the same weight. The last words are rare. */
const frequentWords = ['weld', 'welding', 'pump', 'pumps', 'gate', 'panel', 'roof', 'engine', 'cable', 'pipe', 'tile']
const rareWords = ['turbine', 'violin', 'glacier', 'saddle']
const labelWord = fc.oneof(
  { weight: 400, arbitrary: fc.constantFrom(...frequentWords) },
  { weight: 1, arbitrary: fc.constantFrom(...rareWords) },
)
const label = fc.array(labelWord, { minLength: 1, maxLength: 4 }).map((words) => words.join(' '))
const names = fc.sample(fc.record({ name: label, aliases: fc.array(label, { maxLength: 3 }) }), {
  numRuns: 5000,
  seed: SEED,
})
const { labels, postings } = buildSkillIndexSync(names.map((skill, i) => ({ number: i + 1, ...skill }))).parts
const { vocabulary } = labels
const stemNumbers = Array.from({ length: vocabulary.stemCount }, (_, stem) => stem)

/** By entry index: from the word numbers of the skill to the numbers of letters of their best labels. */
const labelLengths = labels.names.map(() => new Map<number, number>())
for (const word of vocabulary.words.keys())
  for (let at = postings.starts[word]!; at < postings.starts[word + 1]!; at++)
    labelLengths[postings.entryIndexes[at]!]!.set(word, postings.bestLabels[at]! & LENGTH_MASK)
const skillCounts = vocabulary.words.map((_, word) => labelLengths.filter((lengths) => lengths.has(word)).length)

const phraseWord: fc.Arbitrary<PhraseWord> = fc.record({
  weight: fc.oneof(fc.constant(0), fc.constantFrom(1, 2), fc.double({ min: 0.1, max: 9, noNaN: true })),
  similarStems: fc.uniqueArray(
    fc.record({
      stem: fc.constantFrom(...stemNumbers),
      similarity: fc.constantFrom(100, 84, 80, 70),
      isSynonym: fc.boolean(),
    }),
    { maxLength: 4, selector: ({ stem }) => stem },
  ),
})
/** One word is similar to all stems, so that its postings alone exceed the limit. */
const wordWithAllStems: PhraseWord = {
  weight: 1,
  similarStems: stemNumbers.map((stem) => ({ stem, similarity: 90, isSynonym: false })),
}
const phrases = [
  [],
  [wordWithAllStems],
  ...fc.sample(fc.array(phraseWord, { minLength: 1, maxLength: 8 }), { numRuns: 200, seed: SEED }),
]

/** Returns the word numbers of the stems that are similar to a word of a phrase, in the order of the stems, with their similarities. */
function similarWordsOf({ similarStems }: PhraseWord): { word: number; similarity: number }[] {
  return similarStems.flatMap(({ stem, similarity }) =>
    [...vocabulary.words.keys()]
      .filter((word) => vocabulary.stems[word] === stem)
      .map((word) => ({ word, similarity })),
  )
}

function countPostings(phraseWord: PhraseWord): number {
  return similarWordsOf(phraseWord).reduce((sum, { word }) => sum + skillCounts[word]!, 0)
}

/** Returns the words that are looked up: the rarest, until the limit of postings is reached, and at least those up to the first that a skill contains. */
function wordsLookedUp(phrase: readonly PhraseWord[]): PhraseWord[] {
  const counts = new Map(phrase.map((word) => [word, countPostings(word)]))
  const lookedUp: PhraseWord[] = []
  let postingsRead = 0
  for (const word of phrase.toSorted((a, b) => counts.get(a)! - counts.get(b)!)) {
    if (postingsRead > 0 && postingsRead + counts.get(word)! > MAX_POSTINGS_READ) break
    postingsRead += counts.get(word)!
    lookedUp.push(word)
  }
  return lookedUp
}

function selectBySorting(phrase: readonly PhraseWord[]): { selected: number[]; hasTie: boolean; isShortened: boolean } {
  const totalWeight = phrase.reduce((sum, { weight }) => sum + weight, 0) || 1
  const lookedUp = wordsLookedUp(phrase).map((word) => ({ ...word, similarWords: similarWordsOf(word) }))
  const skills = labelLengths.flatMap((lengths, entryIndex) => {
    let weightSum = 0
    for (const { weight, similarWords } of lookedUp) {
      const firstSimilar = similarWords.find(({ word }) => lengths.has(word))
      if (!firstSimilar) continue
      const { word, similarity } = firstSimilar
      const gain = (Math.max(weight, MIN_WEIGHT) * similarity) / 100 / totalWeight
      const letterCount = vocabulary.words[word]!.length
      weightSum = Math.fround(
        weightSum + gain * (1 - LABEL_LENGTH_SHARE + (LABEL_LENGTH_SHARE * letterCount) / lengths.get(word)!),
      )
    }
    return weightSum > 0 ? [{ entryIndex, step: Math.floor(Math.min(1, weightSum) * WEIGHT_STEPS) }] : []
  })
  skills.sort((a, b) => b.step - a.step || a.entryIndex - b.entryIndex)
  return {
    selected: skills.slice(0, MAX_SKILLS).map(({ entryIndex }) => entryIndex),
    hasTie: skills.length > MAX_SKILLS && skills[MAX_SKILLS - 1]!.step === skills[MAX_SKILLS]!.step,
    isShortened: lookedUp.length < phrase.length,
  }
}

test('the preselected skills are those with the highest weights, and of equal weights those with the lowest entry indexes', () => {
  const preselection = new Preselection(labels, postings)
  let [fewerSkills, ties, withoutTies, shortened] = [0, 0, 0, 0]
  for (const [i, phrase] of phrases.entries()) {
    const { selected, hasTie, isShortened } = selectBySorting(phrase)
    const message = `phrase ${i}: ${JSON.stringify(phrase)}`
    assert.deepEqual(
      preselection.select(phrase).sort((a, b) => a - b),
      selected.toSorted((a, b) => a - b),
      message,
    )
    if (selected.length < MAX_SKILLS) fewerSkills++
    else if (hasTie) ties++
    else withoutTies++
    if (isShortened) shortened++
  }
  assert.ok(countPostings(wordWithAllStems) > MAX_POSTINGS_READ)
  // All cases occur.
  assert.ok(Math.min(fewerSkills, ties, withoutTies, shortened) > 5, `${[fewerSkills, ties, withoutTies, shortened]}`)
})
