import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldList, table } from './print.ts'

test('control characters in partner texts are not printed', () => {
  const name = '\u001b]0;owned\u0007\u001b[2J\u202eAsha\u0000'
  for (const text of [table(['NAME'], [[name]], ''), fieldList([['name', name]])]) {
    assert.doesNotMatch(text, /(?!\n)[\p{Cc}\u202e]/u)
    assert.match(text, /Asha/)
  }
})
