import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drawItem, KEY } from '../measurement/form.ts'
import { SeededRandom } from '../measurement/seeded-random.ts'
import { Bank } from './bank/bank.ts'
import { findKeyPatterns, type ItemWithKey } from './key-patterns.ts'
import { distractorCount, showItem } from './skill-items.ts'

/** Returns random sets of items of the bank, each of one skill. */
async function randomSets(setSize: number, count: number): Promise<ItemWithKey[][]> {
  const bank = await Bank.read()
  const random = new SeededRandom(`sets of ${setSize}`)
  const skills = bank.skillNumbers.map((number) => bank.itemsOf(number)).filter((items) => items.length >= setSize)
  return Array.from({ length: count }, () => {
    const items = random.shuffled(random.pick(skills)!)
    return items.slice(0, setSize).map((item) => {
      const seed = `person ${random.below(1e9)}`
      const drawn = drawItem([{ ...item, distractorCount: distractorCount(item) }], [], seed)!
      return { options: showItem(item, drawn.options, seed, 'en').options, key: drawn.options.indexOf(KEY) }
    })
  })
}

for (const setSize of [3, 5])
  test(`questions written by people rarely have a key pattern, in sets of ${setSize}`, async () => {
    const sets = await randomSets(setSize, 400)
    const patternCount = sets.filter((items) => findKeyPatterns(items).length > 0).length
    assert.ok(patternCount <= sets.length * 0.06, `${patternCount} of ${sets.length}`)
  })

test('a pattern shared by the keys is found at any position, even if a distractor has it too and some keys do not', async () => {
  const changes: [name: string, change: (option: string) => string][] = [
    ['word at the start', (option) => `Zebra ${option}`],
    ['word inside', (option) => option.replace(/ |$/, ' zebra ')],
    ['symbol', (option) => `${option}*`],
    ['invisible character', (option) => `${option}\u00a0·`],
  ]
  for (const [name, change] of changes)
    for (const items of await randomSets(5, 20)) {
      const addPattern = ({ options, key }: ItemWithKey, position = key): ItemWithKey => ({
        key,
        options: options.map((option, index) => (index === position ? change(option) : option)),
      })
      assert.ok(findKeyPatterns(items.map((item) => addPattern(item))).length > 0, name)
      const [first, second, ...others] = items
      const withOneKeyUnchanged = [first!, ...[second!, ...others].map((item) => addPattern(item))]
      assert.ok(findKeyPatterns(withOneKeyUnchanged).length > 0, `${name}, one key without it`)
      const withDistractor = [
        addPattern(first!, (first!.key + 1) % 4),
        ...[second!, ...others].map((item) => addPattern(item)),
      ]
      assert.ok(findKeyPatterns(withDistractor).length > 0, `${name}, with a distractor that has it`)
    }
})

test('the longest option and the first letter are patterns if they single out nearly all keys', () => {
  const items = ['Cut', 'Dry', 'Fix', 'Mix', 'Oil'].map((verb, key): ItemWithKey => {
    const options = ['apron', 'bench', 'crate', 'drill'].map((noun) => `${verb} the ${noun}`)
    options[key % 4] = `${verb} the umbrella`
    return { options, key: key % 4 }
  })
  const patterns = findKeyPatterns(items).map(({ pattern }) => pattern)
  assert.ok(patterns.includes('length at position 1'), patterns.join())
  assert.ok(patterns.includes('word "umbrella"'))
})
