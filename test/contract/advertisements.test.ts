import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isForTuning, readAdvertisements } from '../../bench/advertisement-quality.ts'
import { builtInSkills } from '../../bench/support/skill-catalogues.ts'

const advertisements = readAdvertisements()

test('there are 100 advertisements, numbered in order; half of them are for tuning', () => {
  assert.deepEqual(
    advertisements.map(({ number }) => number),
    Array.from({ length: 100 }, (_, i) => i + 1),
  )
  assert.equal(advertisements.filter(isForTuning).length, 50)
})

test('each advertisement requires three to nine different skills of the catalogue', () => {
  const namesByNumber = new Map(builtInSkills().map(({ number, name }) => [number, name]))
  for (const { number, requiredSkills, excludedSkills } of advertisements) {
    const labels = [...requiredSkills, ...excludedSkills]
    for (const label of labels)
      assert.equal(label.name, namesByNumber.get(label.number), `${number}: sk_${label.number}`)
    assert.ok(
      requiredSkills.length >= 3 && requiredSkills.length <= 9,
      `${number} requires ${requiredSkills.length} skills`,
    )
    assert.equal(new Set(labels.map((label) => label.number)).size, labels.length, `${number} lists no skill twice`)
  }
})

test('each advertisement has 60 to 200 words and one phone number, which is a test number', () => {
  for (const { number, text } of advertisements) {
    const wordCount = text.split(/\s+/).length
    assert.ok(wordCount >= 60 && wordCount <= 200, `${number} has ${wordCount} words`)
    assert.equal(text.match(/\+91 99900 000\d\d(?!\d)/g)?.length, 1, `${number} has one test number`)
    assert.doesNotMatch(
      text.replaceAll(/\+91 99900 000\d\d/g, ''),
      /\d{5}[ -]?\d{5}/,
      `${number} has no other phone number`,
    )
  }
  const texts = new Set(advertisements.map(({ text }) => text))
  assert.equal(texts.size, advertisements.length)
})

test('six to eight advertisements are in Devanagari', () => {
  const count = advertisements.filter(({ text }) => /\p{Script=Devanagari}{3}/u.test(text)).length
  assert.ok(count >= 6 && count <= 8, `${count} advertisements`)
})
