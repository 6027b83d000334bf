import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formsOf, rootOf, singularOf, stemOf } from './stems.ts'

test('a singular is found for a plural, in one spelling', () => {
  const pairs =
    'welders/welder batteries/battery boxes/box glass/glass bus/bus analysis/analysis colours/color organises/organize centre/center modelling/modeling licences/license electronics/electronics sales/sales'
  for (const [word, singular] of pairs.split(' ').map((pair) => pair.split('/')))
    assert.equal(singularOf(word!), singular)
})

test('the forms of a word share its stem', () => {
  for (const line of [
    'weld welds welded welding',
    'manage manages managed managing',
    'plan plans planned planning',
    'organise organize organising organized',
    'carry carries carried',
  ])
    assert.equal(new Set(line.split(' ').map(stemOf)).size, 1, line)
})

test('what is derived from a word shares its root', () => {
  for (const line of ['develop development', 'install installation', 'instruct instruction instructor'])
    assert.equal(new Set(line.split(' ').map((word) => rootOf(stemOf(word)))).size, 1, line)
})

test('words of another script stay as they are', () => {
  assert.equal(stemOf('वेल्डिंग'), 'वेल्डिंग')
  assert.deepEqual(formsOf('वेल्डिंग'), [])
})

test('forms lead back to their word', () => {
  for (const word of ['weld', 'battery', 'organize', 'color', 'plan', 'box'])
    for (const form of formsOf(word)) assert.equal(stemOf(form), stemOf(word), form)
})
