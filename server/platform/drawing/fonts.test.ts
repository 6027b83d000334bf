import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { BOLD_FONT, isDrawable, REGULAR_FONT, replaceUndrawable } from './fonts.ts'

/** The part of fontkit, the font reader of pdfkit, that the test uses. It has no types. */
interface FontReader {
  create(file: Buffer): { hasGlyphForCodePoint(codePoint: number): boolean }
}

test('the fonts have every character that is called drawable, and no Latin or Devanagari one is missing', () => {
  const requireModule = createRequire(import.meta.url)
  const fontkit = createRequire(requireModule.resolve('pdfkit'))('fontkit') as FontReader
  for (const file of [REGULAR_FONT, BOLD_FONT]) {
    const font = fontkit.create(readFileSync(file))
    for (let codePoint = 0x20; codePoint < 0x2_ffff; codePoint++) {
      const character = String.fromCodePoint(codePoint)
      const isIncluded = isDrawable(character)
      if (isIncluded) assert.ok(font.hasGlyphForCodePoint(codePoint), `${file} lacks U+${codePoint.toString(16)}`)
      const isCommon = /[\p{Script=Latin}\p{Script=Devanagari}]/u.test(character) && codePoint < 0x980
      if (isCommon && font.hasGlyphForCodePoint(codePoint)) assert.ok(isIncluded, `U+${codePoint.toString(16)}`)
    }
  }
})

test('characters that the fonts lack are replaced by the name of their script', () => {
  assert.equal(replaceUndrawable('आशा वर्मा, “Électricien” – ₹ 500'), 'आशा वर्मा, “Électricien” – ₹ 500')
  assert.equal(replaceUndrawable('Kavya (காவ்யா, ராஜன்)'), 'Kavya ([Tamil text])')
  assert.equal(replaceUndrawable('one\ntwo 👍'), 'one two [other text]')
})
