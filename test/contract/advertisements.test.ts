import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isForTuning, readAdvertisements, readMarkedAdvertisements } from '../../bench/support/advertisements.ts'
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

const markedAdvertisements = readMarkedAdvertisements()

test('the marked advertisements continue the numbers, have 60 to 200 words, and differ', () => {
  assert.deepEqual(
    markedAdvertisements.map(({ number }) => number),
    markedAdvertisements.map((_, i) => advertisements.length + 1 + i),
  )
  for (const { number, text } of markedAdvertisements) {
    const wordCount = text.split(/\s+/).length
    assert.ok(wordCount >= 60 && wordCount <= 200, `${number} has ${wordCount} words`)
    assert.deepEqual(text.match(/\d{5}[ -]?\d{5}/g), [`99900 00${number}`], `${number} has one test number`)
  }
  const texts = new Set([...advertisements, ...markedAdvertisements].map(({ text }) => text))
  assert.equal(texts.size, advertisements.length + markedAdvertisements.length)
})

test('the labels of a marked advertisement are exactly the skills of its marks', () => {
  const namesByNumber = new Map(builtInSkills().map(({ number, name }) => [number, name]))
  for (const { number, requiredSkills, excludedSkills, marks } of markedAdvertisements) {
    const labels = [...requiredSkills, ...excludedSkills]
    for (const label of labels)
      assert.equal(label.name, namesByNumber.get(label.number), `${number}: sk_${label.number}`)
    assert.equal(new Set(labels.map((label) => label.number)).size, labels.length, `${number} lists no skill twice`)
    const sorted = (numbers: number[]) => [...new Set(numbers)].sort((a, b) => a - b)
    assert.deepEqual(
      sorted(marks.flatMap(({ requiredNumbers }) => requiredNumbers)),
      sorted(requiredSkills.map((label) => label.number)),
      `${number}: required`,
    )
    assert.deepEqual(
      sorted(marks.flatMap(({ excludedNumbers }) => excludedNumbers)),
      sorted(excludedSkills.map((label) => label.number)),
      `${number}: not required`,
    )
  }
})

test('the marks of an advertisement begin and end with a letter, a digit or a closing sign', () => {
  for (const { number, text, marks } of markedAdvertisements)
    for (const { start, end } of marks)
      assert.match(
        text.slice(start, end),
        /^[\p{L}\p{N}"(.](.*[\p{L}\p{M}\p{N}).+#"%])?$/su,
        `${number}: ${text.slice(start, end)}`,
      )
})
