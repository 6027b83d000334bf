import assert from 'node:assert/strict'
import { test } from 'node:test'
import { masterSkillNumber, skillId, skillNumber, subSkillNumber } from './ids.ts'
import { distinctAliases, nameKey, normaliseText } from './names.ts'

test('name keys ignore case, white space and Unicode composition', () => {
  for (const [a, b] of [
    ['MIG welding', ' mig  WELDING\n'],
    ['Data\u00A0entry', 'dataentry'],
    ['Straßenbau', 'STRASSENBAU'],
    ['ΟΔΟΣ', 'οδοσ'],
    ['Caf\u00E9', 'Cafe\u0301'],
    ['राज मिस्त्री', 'राजमिस्त्री'],
  ] as const)
    assert.equal(nameKey(a), nameKey(b), `${a} and ${b}`)
  for (const [a, b] of [
    ['C', 'C++'],
    ['C++', 'C#'],
    ['.NET', 'NET'],
    ['CNC turning', 'CNC-turning'],
  ] as const)
    assert.notEqual(nameKey(a), nameKey(b), `${a} and ${b}`)
})

test('distinctAliases removes duplicates, empty aliases and the name itself', () => {
  assert.equal(normaliseText('  raj\n\tmistri '), 'raj mistri')
  assert.deepEqual(
    distinctAliases('Bricklaying', ['brick  work', 'BRICKLAYING', '', ' ', 'Brick Work', 'brick laying']),
    ['brick work', 'brick laying'],
  )
})

test('IDs are converted to numbers and back', () => {
  assert.equal(skillId(1001), 'sk_1001')
  assert.equal(skillNumber('sk_1001'), 1001)
  assert.equal(subSkillNumber('ss_101'), 101)
  assert.equal(masterSkillNumber('ms_1'), 1)
  for (const id of [
    'sk_',
    'sk_0',
    'sk_01',
    'sk_1x',
    'ss_1',
    'SK_1',
    'sk_-1',
    'sk_1.0',
    'sk_9999999999',
    ' sk_1',
    'sk_1\n',
  ])
    assert.equal(skillNumber(id), undefined, JSON.stringify(id))
})
