import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stripInvisible, toSingleLine } from './strip-invisible.ts'

test('characters without a visible form are removed', () => {
  const invisible = [
    ...['\0', '\u007f', '\u00ad', '\u200b', '\u200e', '\u202e', '\u2060', '\u2066', '\ufeff'],
    ...['\u115f', '\u1160', '\u3164', '\uffa0'], // Hangul fillers
    '\u{e0041}', // a tag character
    '\ud800', // half of a surrogate pair becomes U+FFFD, which is visible
  ]
  for (const character of invisible.slice(0, -1)) {
    const name = `U+${character.codePointAt(0)!.toString(16)}`
    assert.equal(stripInvisible(`Asha${character} Rao`), 'Asha Rao', name)
    assert.equal(stripInvisible(character), '', name)
  }
  assert.equal(stripInvisible(`Asha${invisible.at(-1)}`), 'Asha\ufffd')
})

test('joiners, line breaks and tabs are kept, except in a text without visible characters', () => {
  for (const text of ['क्\u200dष', 'నా\u200cపేరు', 'one\ntwo\tthree']) assert.equal(stripInvisible(text), text)
  for (const text of ['\u200d\u200c', ' \n\t', '\u00a0', '\u0301']) assert.equal(stripInvisible(text), '')
})

test('a single line has no line breaks or other separators', () => {
  assert.equal(toSingleLine(' Asha\r\nBcc: x@y.example\u2028\u2029 Rao\t'), 'Asha Bcc: x@y.example Rao')
})
