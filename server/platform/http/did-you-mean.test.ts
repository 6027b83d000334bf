import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closestName } from './did-you-mean.ts'

const PROPERTY_NAMES = ['name', 'default_methods', 'channels', 'languages', 'follow_ups', 'min', 'max']

test('a name with a typo, other case or punctuation is recognised', () => {
  for (const [name, expected] of [
    ['defaultMethods', 'default_methods'],
    ['Default-Methods', 'default_methods'],
    ['nome', 'name'],
    ['nmae', 'name'],
    ['langauges', 'languages'],
    ['follow_up', 'follow_ups'],
    ['channel', 'channels'],
    ['chanel', undefined],
    ['mix', undefined],
    ['MIN', 'min'],
    ['colour', undefined],
    ['', undefined],
    ['x'.repeat(5000), undefined],
  ] as const)
    assert.equal(closestName(name, PROPERTY_NAMES), expected, name.slice(0, 20))
})
