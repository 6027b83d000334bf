import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type DrawableItem, drawItem, KEY } from './form.ts'
import { SeededRandom } from './seeded-random.ts'

const anyItem: fc.Arbitrary<DrawableItem> = fc.record({
  pool: fc.constantFrom('a', 'b', 'c', 'd'),
  kind: fc.constantFrom('tool', 'fault', 'safety'),
  distractorCount: fc.integer({ min: 3, max: 6 }),
  wasSeen: fc.boolean(),
})
const anyItems = fc.array(anyItem, { minLength: 1, maxLength: 24 })

/** Draws items until `count` were drawn or none is left. */
function drawForm(items: readonly DrawableItem[], seed: string, count = items.length) {
  const form: { item: number; options: number[] }[] = []
  while (form.length < count) {
    const drawn = drawItem(
      items,
      form.map(({ item }) => item),
      seed,
    )
    if (!drawn) break
    form.push(drawn)
  }
  return form
}

/** Returns a skill with pools of six items, as in the built-in bank. */
const pooledItems = (pools: number): DrawableItem[] =>
  Array.from({ length: pools * 6 }, (_, index) => ({
    pool: `pool ${Math.floor(index / 6)}`,
    kind: ['tool', 'fault', 'safety', 'rule'][Math.floor(index / 6) % 4]!,
    distractorCount: 5,
  }))

test('no item is drawn twice, and all of them are drawn in the end', () => {
  fc.assert(
    fc.property(anyItems, fc.string(), (items, seed) => {
      const form = drawForm(items, seed)
      assert.deepEqual(
        form.map(({ item }) => item).toSorted((a, b) => a - b),
        items.map((_, index) => index),
      )
      assert.equal(
        drawItem(
          items,
          form.map(({ item }) => item),
          seed,
        ),
        undefined,
      )
    }),
  )
})

test('the same seed and the same items give the same form', () => {
  fc.assert(
    fc.property(anyItems, fc.string(), (items, seed) => {
      assert.deepEqual(drawForm(items, seed), drawForm(structuredClone(items), seed))
    }),
  )
})

test('the key is shown with three different distractors', () => {
  fc.assert(
    fc.property(anyItems, fc.string(), (items, seed) => {
      for (const { item, options } of drawForm(items, seed)) {
        assert.equal(options.length, 4)
        assert.equal(new Set(options).size, 4)
        assert.equal(options.filter((option) => option === KEY).length, 1)
        assert.ok(options.every((option) => option >= KEY && option < items[item]!.distractorCount))
      }
    }),
  )
})

test('items that the person has seen come last', () => {
  fc.assert(
    fc.property(anyItems, fc.string(), (items, seed) => {
      const seen = drawForm(items, seed).map(({ item }) => items[item]!.wasSeen ?? false)
      const unseenCount = items.filter(({ wasSeen }) => !wasSeen).length
      assert.deepEqual(
        seen,
        items.map((_, index) => index >= unseenCount),
      )
    }),
  )
})

test('the items of a form come from all pools equally', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 8 }), fc.string(), (pools, count, seed) => {
      const items = pooledItems(pools)
      const form = drawForm(items, seed, Math.min(count, items.length))
      const perPool = Map.groupBy(form, ({ item }) => items[item]!.pool)
      const sizes = [...perPool.values()].map((drawn) => drawn.length)
      assert.equal(perPool.size, Math.min(pools, form.length))
      assert.ok(Math.max(...sizes) - Math.min(...sizes) <= 1, sizes.join())
    }),
  )
})

test('kinds are balanced among items whose pools are', () => {
  const items = Array.from({ length: 12 }, (_, index) => ({
    pool: `pool ${index}`,
    kind: index < 9 ? 'tool' : ['fault', 'safety', 'rule'][index - 9]!,
    distractorCount: 3,
  }))
  for (let person = 0; person < 50; person++) {
    const kinds = drawForm(items, `person ${person}`, 4).map(({ item }) => items[item]!.kind)
    assert.equal(new Set(kinds).size, 4, kinds.join())
  }
})

const PEOPLE = 4000

test('the key has each position equally often, independently of the position before it', () => {
  const items = pooledItems(4)
  const counts = new Map<number, number>()
  const pairs = new Map<string, number>()
  for (let person = 0; person < PEOPLE; person++) {
    const [first, second] = drawForm(items, `person ${person}`, 2).map(({ options }) => options.indexOf(KEY))
    counts.set(first!, (counts.get(first!) ?? 0) + 1)
    pairs.set(`${first} ${second}`, (pairs.get(`${first} ${second}`) ?? 0) + 1)
  }
  // Limits of the chi-square distribution that chance exceeds once in 1,000 times; the seeds are fixed.
  assert.ok(chiSquare([...counts.values()], 4) < 16.27, [...counts.values()].join())
  assert.ok(chiSquare([...pairs.values()], 16) < 37.7, [...pairs.values()].join())
})

test('all items of a skill and all distractors of an item are used equally often', () => {
  const items = pooledItems(4)
  const itemCounts = new Map<number, number>()
  const distractorCounts = new Map<number, number>()
  for (let person = 0; person < PEOPLE; person++)
    for (const { item, options } of drawForm(items, `person ${person}`, 4)) {
      itemCounts.set(item, (itemCounts.get(item) ?? 0) + 1)
      for (const option of options)
        if (option !== KEY) distractorCounts.set(option, (distractorCounts.get(option) ?? 0) + 1)
    }
  const exposures = [...itemCounts.values()].map((count) => count / PEOPLE)
  assert.equal(itemCounts.size, items.length)
  assert.ok(Math.max(...exposures) < 0.2, `${Math.max(...exposures)}; expected about 4 of 24`)
  assert.ok(chiSquare([...itemCounts.values()], 24) < 49.7)
  assert.ok(chiSquare([...distractorCounts.values()], 5) < 18.5)
})

test('fewer than 5 percent of people share their first three items', () => {
  const items = pooledItems(4)
  const forms = Array.from({ length: 1000 }, (_, person) =>
    drawForm(items, `person ${person}`, 3)
      .map(({ item }) => item)
      .toSorted((a, b) => a - b)
      .join(),
  )
  const counts = [...Map.groupBy(forms, (form) => form).values()].map((group) => group.length)
  const sharingPairs = counts.reduce((sum, count) => sum + (count * (count - 1)) / 2, 0)
  assert.ok(sharingPairs / ((forms.length * (forms.length - 1)) / 2) < 0.05)
})

test('seeded random numbers are reproducible and in range, and shuffling keeps all elements', () => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: 1000 }), fc.array(fc.nat()), (seed, count, list) => {
      const [first, second] = [new SeededRandom(seed), new SeededRandom(seed)]
      const number = first.below(count)
      assert.ok(Number.isInteger(number) && number >= 0 && number < count)
      assert.equal(number, second.below(count))
      const shuffled = first.shuffled(list)
      assert.deepEqual(shuffled, second.shuffled(list))
      assert.deepEqual(shuffled.toSorted(), list.toSorted())
      const sample = first.sample(list, 3)
      assert.ok(sample.length === Math.min(3, list.length) && sample.every((element) => list.includes(element)))
    }),
  )
})

test('the numbers of a seed never change: they are drawn again each time that a calculation is shown', () => {
  const random = new SeededRandom('seed of a conversation')
  const numbers = Array.from({ length: 10 }, () => random.below(1000))
  assert.deepEqual(numbers, [756, 650, 329, 250, 562, 768, 180, 617, 750, 816])
})

function chiSquare(counts: number[], categories: number): number {
  const expected = counts.reduce((sum, count) => sum + count, 0) / categories
  const missing = categories - counts.length
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, missing * expected)
}
