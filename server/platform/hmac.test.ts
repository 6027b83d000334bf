import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { HmacKey } from './hmac.ts'

test("matches Node's HMAC-SHA256 for keys and messages of any length", () => {
  const lengths = fc.oneof(
    fc.integer({ min: 0, max: 200 }),
    fc.constantFrom(55, 56, 63, 64, 65, 4031, 4032, 4033, 9000),
  )
  const bytes = lengths.chain((length) => fc.uint8Array({ minLength: length, maxLength: length }))
  fc.assert(
    fc.property(bytes, fc.array(bytes, { minLength: 1, maxLength: 4 }), (secret, messages) => {
      const key = new HmacKey(secret)
      for (const message of messages) {
        const expected = createHmac('sha256', secret).update(message).digest()
        const text = Buffer.from(message).toString('latin1')
        assert.deepEqual(key.sign(text), expected)
        assert.equal(key.verify(text, expected), true)
        assert.equal(key.verify(text, Buffer.alloc(32)), false)
      }
    }),
  )
})

test('signs a text as its bytes in UTF-8', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      assert.deepEqual(
        new HmacKey(Buffer.from('key')).signText(text),
        createHmac('sha256', 'key').update(text).digest(),
      )
    }),
  )
})
