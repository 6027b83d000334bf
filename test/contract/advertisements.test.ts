import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isForTuning, readAdvertisements } from '../../bench/advertisement-quality.ts'
import { builtIn } from '../../bench/support/skill-catalogues.ts'

const advertisements = readAdvertisements()

test('there are a hundred advertisements, numbered in order, half of them for tuning', () => {
  assert.deepEqual(
    advertisements.map(({ number }) => number),
    Array.from({ length: 100 }, (_, i) => i + 1),
  )
  assert.equal(advertisements.filter(isForTuning).length, 50)
})

test('their labels are skills of the catalogue by id and name, three to nine asked for, none twice', () => {
  const names = new Map(builtIn().map(({ number, name }) => [number, name]))
  for (const { number, asks, notAsked } of advertisements) {
    const labels = [...asks, ...notAsked]
    for (const label of labels) assert.equal(label.name, names.get(label.number), `${number}: sk_${label.number}`)
    assert.ok(asks.length >= 3 && asks.length <= 9, `${number} asks for ${asks.length} skills`)
    assert.equal(new Set(labels.map((label) => label.number)).size, labels.length, `${number} names a skill twice`)
  }
})

test('each is a text of 60 to 200 words with one phone number, of a range of ours', () => {
  for (const { number, text } of advertisements) {
    const words = text.split(/\s+/).length
    assert.ok(words >= 60 && words <= 200, `${number} has ${words} words`)
    assert.equal(text.match(/\+91 99900 000\d\d(?!\d)/g)?.length, 1, `${number} has one invented phone number`)
    assert.doesNotMatch(text.replaceAll(/\+91 99900 000\d\d/g, ''), /\d{5}[ -]?\d{5}/, `${number} has another number`)
  }
  const texts = new Set(advertisements.map(({ text }) => text))
  assert.equal(texts.size, advertisements.length)
})

test('some are in Devanagari', () => {
  const count = advertisements.filter(({ text }) => /\p{Script=Devanagari}{3}/u.test(text)).length
  assert.ok(count >= 6 && count <= 8, `${count} are`)
})
