import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { editDistance, typoTolerance } from '../../../platform/text/edit-distance.ts'
import { runSync } from '../text/time-slicing.ts'
import { WordTable } from '../text/word-table.ts'
import { buildNearWords } from './near-words.ts'
import { buildVocabulary } from './vocabulary.ts'

function nearWordsOf(words: string[]) {
  const table = new WordTable()
  for (const word of words) table.addWord(word)
  const { vocabulary } = runSync(buildVocabulary(table))
  return { vocabulary, near: runSync(buildNearWords(vocabulary)) }
}

/** Similar words of two or more syllables. */
const syllable = fc.constantFrom('ba', 'kal', 'ran', 'nor', 'pal', 'fer', 'ter', 'eng', 'el', 'ul')
const syllables = fc.array(syllable, { minLength: 2, maxLength: 5 }).map((parts) => parts.join(''))
const { vocabulary, near } = nearWordsOf(fc.sample(syllables, { numRuns: 3000, seed: 7 }))
const { words } = vocabulary

function found(visit: (put: (id: number) => void) => void): string[] {
  const ids = new Set<number>()
  visit((id) => ids.add(id))
  return [...ids].map((id) => words[id]!).sort()
}

/** Returns the word with a letter deleted, doubled, replaced or swapped with the next. */
const misspelt = (word: string, at: number, edit: number) => {
  const [before, after] = [word.slice(0, at), word.slice(at)]
  return before + [after.slice(1), after[0] + after, `x${after.slice(1)}`, after[1]! + after[0] + after.slice(2)][edit]!
}

test('a word with two typos finds all words within the tolerance', () => {
  const position = fc.nat({ max: 7 })
  const edit = fc.nat({ max: 3 })
  fc.assert(
    fc.property(fc.nat({ max: words.length - 1 }), position, edit, position, edit, (id, first, one, second, two) => {
      const typed = misspelt(misspelt(words[id]!.padEnd(9, 'o'), first, one), second, two)
      fc.pre(typed.length > 8 && vocabulary.find(typed) < 0)
      const within = words.filter((word) => {
        const limit = typoTolerance(Math.max(word.length, typed.length))
        return editDistance(typed, word, limit) <= limit
      })
      assert.deepEqual(
        found((put) => near.findTypos(typed, put)),
        within,
      )
    }),
    { numRuns: 200 },
  )
})

test('short words are found by one typo, longer ones two edits away only on request', () => {
  const some = nearWordsOf(['weld', 'welds', 'plumber', 'welding', 'carpenter', 'bending'])
  const typos = (word: string, withLonger?: boolean) => {
    const names: string[] = []
    some.near.findTypos(word, (id, edits) => names.push(`${some.vocabulary.words[id]} ${edits}`), withLonger)
    return names.sort()
  }
  assert.deepEqual(typos('wedl'), ['weld 1'])
  assert.deepEqual(typos('plumer'), ['plumber 1'])
  assert.deepEqual(typos('carpntr'), ['carpenter 2'])
  assert.deepEqual(typos('carpntr', false), [])
  assert.deepEqual(typos('capnter'), ['carpenter 2'])
})

test('a substring finds the words that contain it, other than at their beginning', () => {
  fc.assert(
    fc.property(
      fc.nat({ max: words.length - 1 }),
      fc.nat({ max: 3 }),
      fc.integer({ min: 3, max: 6 }),
      (id, at, length) => {
        const piece = words[id]!.slice(at, at + length)
        fc.pre(piece.length >= 3)
        assert.deepEqual(
          found((put) => near.findContaining(piece, put)),
          words.filter((word) => word.indexOf(piece, 1) > 0),
        )
      },
    ),
    { numRuns: 200 },
  )
})

test('two letters find the words that end with them', () => {
  for (const suffix of ['er', 'an', 'ng', 'zz'])
    assert.deepEqual(
      found((put) => near.findEndingWith(suffix, put)),
      words.filter((word) => word.endsWith(suffix)),
    )
})
