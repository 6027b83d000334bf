import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inflections, rootOf, stemOf, toSingular } from './stems.ts'

test('toSingular returns the singular form in American spelling', () => {
  const wordsWithSingulars =
    'welders/welder batteries/battery boxes/box glass/glass bus/bus analysis/analysis colours/color organises/organize centre/center modelling/modeling licences/license electronics/electronics sales/sales'
  for (const [word, singular] of wordsWithSingulars.split(' ').map((pair) => pair.split('/')))
    assert.equal(toSingular(word!), singular)
})

test('all inflections of a word have the same stem', () => {
  for (const line of [
    'weld welds welded welding',
    'manage manages managed managing',
    'plan plans planned planning',
    'organise organize organising organized',
    'carry carries carried',
  ])
    assert.equal(new Set(line.split(' ').map(stemOf)).size, 1, line)
})

test('derived words have the same root (develop, development)', () => {
  for (const line of ['develop development', 'install installation', 'instruct instruction instructor'])
    assert.equal(new Set(line.split(' ').map((word) => rootOf(stemOf(word)))).size, 1, line)
})

test('words in other scripts are not stemmed', () => {
  assert.equal(stemOf('वेल्डिंग'), 'वेल्डिंग')
  assert.deepEqual(inflections('वेल्डिंग'), [])
})

test('inflections returns words with the same stem', () => {
  for (const word of ['weld', 'battery', 'organize', 'color', 'plan', 'box'])
    for (const form of inflections(word)) assert.equal(stemOf(form), stemOf(word), form)
})
