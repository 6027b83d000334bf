import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { editDistance, typoTolerance } from '../../../platform/text/edit-distance.ts'
import { runSync } from '../text/time-slicing.ts'
import { WordTable } from '../text/word-table.ts'
import { buildNearWords } from './near-words.ts'
import { buildVocabulary } from './vocabulary.ts'

function buildNearWordsOf(words: string[]) {
  const table = new WordTable()
  for (const word of words) table.addWord(word)
  const { vocabulary } = runSync(buildVocabulary(table))
  return { vocabulary, nearWords: runSync(buildNearWords(vocabulary)) }
}

/** Random words of two to five syllables. They have few different syllables, so many of them are similar. */
const syllable = fc.constantFrom('ba', 'kal', 'ran', 'nor', 'pal', 'fer', 'ter', 'eng', 'el', 'ul')
const randomWord = fc.array(syllable, { minLength: 2, maxLength: 5 }).map((parts) => parts.join(''))
const { vocabulary, nearWords } = buildNearWordsOf(fc.sample(randomWord, { numRuns: 3000, seed: 7 }))
const { words } = vocabulary

function foundWords(search: (addId: (id: number) => void) => void): string[] {
  const ids = new Set<number>()
  search((id) => ids.add(id))
  return [...ids].map((id) => words[id]!).sort()
}

/**
 * Returns the word with the letter at `at` deleted, doubled, replaced or swapped with the next; `edit` is 0 to 3 in this order.
 */
const misspellWord = (word: string, at: number, edit: number) => {
  const [before, after] = [word.slice(0, at), word.slice(at)]
  return before + [after.slice(1), after[0] + after, `x${after.slice(1)}`, after[1]! + after[0] + after.slice(2)][edit]!
}

test('findTypos finds all words within the typo tolerance of a long word with two typos', () => {
  const position = fc.nat({ max: 7 })
  const edit = fc.nat({ max: 3 })
  fc.assert(
    fc.property(
      fc.nat({ max: words.length - 1 }),
      position,
      edit,
      position,
      edit,
      (id, firstPosition, firstEdit, secondPosition, secondEdit) => {
        const typedWord = misspellWord(
          misspellWord(words[id]!.padEnd(9, 'o'), firstPosition, firstEdit),
          secondPosition,
          secondEdit,
        )
        fc.pre(typedWord.length > 8 && vocabulary.find(typedWord) < 0)
        const wordsWithinTolerance = words.filter((word) => {
          const tolerance = typoTolerance(Math.max(word.length, typedWord.length))
          return editDistance(typedWord, word, tolerance) <= tolerance
        })
        assert.deepEqual(
          foundWords((addId) => nearWords.findTypos(typedWord, addId)),
          wordsWithinTolerance,
        )
      },
    ),
    { numRuns: 200 },
  )
})

test('findTypos finds short words at edit distance 1, and words of 8 or more letters at distance 2 only with searchLongerWords', () => {
  const smallVocabulary = buildNearWordsOf(['weld', 'welds', 'plumber', 'welding', 'carpenter', 'bending'])
  const findTyposOf = (word: string, searchLongerWords?: boolean) => {
    const foundTypos: string[] = []
    smallVocabulary.nearWords.findTypos(
      word,
      (id, edits) => foundTypos.push(`${smallVocabulary.vocabulary.words[id]} ${edits}`),
      searchLongerWords,
    )
    return foundTypos.sort()
  }
  assert.deepEqual(findTyposOf('wedl'), ['weld 1'])
  assert.deepEqual(findTyposOf('plumer'), ['plumber 1'])
  assert.deepEqual(findTyposOf('carpntr'), ['carpenter 2'])
  assert.deepEqual(findTyposOf('carpntr', false), [])
  assert.deepEqual(findTyposOf('capnter'), ['carpenter 2'])
})

test('findContaining finds the words that contain a substring after their first letter', () => {
  fc.assert(
    fc.property(
      fc.nat({ max: words.length - 1 }),
      fc.nat({ max: 3 }),
      fc.integer({ min: 3, max: 6 }),
      (id, at, length) => {
        const substring = words[id]!.slice(at, at + length)
        fc.pre(substring.length >= 3)
        assert.deepEqual(
          foundWords((addId) => nearWords.findContaining(substring, addId)),
          words.filter((word) => word.indexOf(substring, 1) > 0),
        )
      },
    ),
    { numRuns: 200 },
  )
})

test('findEndingWith finds the words that end with a two-letter suffix', () => {
  for (const suffix of ['er', 'an', 'ng', 'zz'])
    assert.deepEqual(
      foundWords((addId) => nearWords.findEndingWith(suffix, addId)),
      words.filter((word) => word.endsWith(suffix)),
    )
})
