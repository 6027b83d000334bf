import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { editDistance, editsAllowed } from '../text/edits.ts'
import { runAtOnce } from '../text/time-slicing.ts'
import { WordTable } from '../text/word-table.ts'
import { buildNearWords } from './near-words.ts'
import { buildVocabulary } from './vocabulary.ts'

function nearWordsOf(words: string[]) {
  const table = new WordTable()
  for (const word of words) table.addWord(word)
  const { vocabulary } = runAtOnce(buildVocabulary(table))
  return { vocabulary, near: runAtOnce(buildNearWords(vocabulary)) }
}

/** Words of two syllables or more, much alike. */
const syllable = fc.constantFrom('ba', 'kal', 'ran', 'nor', 'pal', 'fer', 'ter', 'eng', 'el', 'ul')
const made = fc.array(syllable, { minLength: 2, maxLength: 5 }).map((parts) => parts.join(''))
const { vocabulary, near } = nearWordsOf(fc.sample(made, { numRuns: 3000, seed: 7 }))
const { words } = vocabulary

function found(visit: (put: (id: number) => void) => void): string[] {
  const ids = new Set<number>()
  visit((id) => ids.add(id))
  return [...ids].map((id) => words[id]!).sort()
}

/** The word with a letter lost, doubled, changed or swapped with the next. */
const misspelt = (word: string, at: number, edit: number) => {
  const [before, after] = [word.slice(0, at), word.slice(at)]
  return before + [after.slice(1), after[0] + after, `x${after.slice(1)}`, after[1]! + after[0] + after.slice(2)][edit]!
}

test('a word with two typos leads to all words that it may have been', () => {
  const place = fc.nat({ max: 7 })
  const edit = fc.nat({ max: 3 })
  fc.assert(
    fc.property(fc.nat({ max: words.length - 1 }), place, edit, place, edit, (id, first, one, second, two) => {
      const typed = misspelt(misspelt(words[id]!.padEnd(9, 'o'), first, one), second, two)
      fc.pre(typed.length > 8 && vocabulary.find(typed) < 0)
      const within = words.filter((word) => {
        const limit = editsAllowed(Math.max(word.length, typed.length))
        return editDistance(typed, word, limit) <= limit
      })
      assert.deepEqual(
        found((put) => near.typos(typed, put)),
        within,
      )
    }),
    { numRuns: 200 },
  )
})

test('short words are found by one typo, and far ones only where they are asked for', () => {
  const some = nearWordsOf(['weld', 'welds', 'plumber', 'welding', 'carpenter', 'bending'])
  const typos = (word: string, far?: boolean) => {
    const names: string[] = []
    some.near.typos(word, (id, edits) => names.push(`${some.vocabulary.words[id]} ${edits}`), far)
    return names.sort()
  }
  assert.deepEqual(typos('wedl'), ['weld 1'])
  assert.deepEqual(typos('plumer'), ['plumber 1'])
  assert.deepEqual(typos('carpntr'), ['carpenter 2'])
  assert.deepEqual(typos('carpntr', false), [])
  assert.deepEqual(typos('capnter'), ['carpenter 2'])
})

test('a piece leads to the words that hold it, wherever it stands but at their beginning', () => {
  fc.assert(
    fc.property(
      fc.nat({ max: words.length - 1 }),
      fc.nat({ max: 3 }),
      fc.integer({ min: 3, max: 6 }),
      (id, at, length) => {
        const piece = words[id]!.slice(at, at + length)
        fc.pre(piece.length >= 3)
        assert.deepEqual(
          found((put) => near.inside(piece, put)),
          words.filter((word) => word.indexOf(piece, 1) > 0),
        )
      },
    ),
    { numRuns: 200 },
  )
})

test('two letters lead to the words that end with them', () => {
  for (const tail of ['er', 'an', 'ng', 'zz'])
    assert.deepEqual(
      found((put) => near.ending(tail, put)),
      words.filter((word) => word.endsWith(tail)),
    )
})
