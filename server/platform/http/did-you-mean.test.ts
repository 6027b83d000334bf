import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closestName } from './did-you-mean.ts'

const NAMES = ['name', 'default_methods', 'channels', 'languages', 'follow_ups', 'min', 'max']

test('the name that was probably meant', () => {
  for (const [given, meant] of [
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
    assert.equal(closestName(given, NAMES), meant, given.slice(0, 20))
})
