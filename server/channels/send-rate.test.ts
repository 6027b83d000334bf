import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reserveSlot } from './send-rate.ts'

test('a message keeps its slot, even if very many others wait', () => {
  const sender = { org_id: 'ORG_1', channel: 'sms' } as const
  const reserve = (message: number, now: number) => reserveSlot(sender, `message ${message}`, 10, now)
  const slots = Array.from({ length: 100_020 }, (_, message) => reserve(message, 0))
  for (const message of [20, 90, 100_019]) {
    assert.ok(slots[message]! > 0)
    assert.equal(reserve(message, 0), slots[message])
  }
})
