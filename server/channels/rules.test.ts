import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { nextSendTime, type SendKind } from '../campaigns/contact/contact-hours.ts'
import { HOUR, MINUTE } from '../platform/clock.ts'
import { indianTimeOfDay } from '../platform/india-time.ts'
import { isOptOutReply } from '../questions/prompts.ts'
import { loadRules, nextAllowedTime, parseRules, rulesFor } from './rules.ts'

const INDIAN_NUMBER = '+919812345678'
const FOREIGN_NUMBER = '+447700900123'

test('the rules of a country apply to its calling code, and the default to all others', () => {
  assert.equal(rulesFor(INDIAN_NUMBER).country, 'IN')
  assert.equal(rulesFor(FOREIGN_NUMBER).country, 'default')
  assert.equal(rulesFor(null).country, 'default')
})

test('every opt-out word of the rules is recognised in replies', () => {
  for (const { country, opt_out_words } of loadRules())
    for (const word of opt_out_words) assert.ok(isOptOutReply(word), `${word} of ${country}`)
})

test('no message to India is sent outside the hours of its channel and category, over 48 hours', () => {
  const live = { mode: 'live' as const, test_clock_id: null, phone: INDIAN_NUMBER }
  const hours = (kind: Partial<SendKind>, start: number, end: number) => ({
    kind,
    start: start * HOUR,
    end: end * HOUR,
  })
  const expectations = [
    hours({ channel: 'sms' }, 10, 20),
    hours({ channel: 'sms', category: 'promotional' }, 10, 20),
    hours({ channel: 'sms', category: 'unknown' }, 10, 20),
    hours({ channel: 'sms', category: 'service_implicit' }, 9, 20),
    hours({ channel: 'sms', isResponse: true }, 10, 21),
    hours({ channel: 'sms', isResponse: true, isCode: true }, 0, 24),
    hours({ channel: 'voice' }, 10, 20),
    hours({ channel: 'voice', category: 'service' }, 9, 20),
    hours({ channel: 'whatsapp' }, 9, 20),
    hours({ channel: 'whatsapp', isResponse: true }, 0, 24),
    hours({ channel: 'email' }, 9, 20),
  ]
  const firstTime = Date.parse('2026-03-11T18:30:00.000Z') // midnight in India
  for (const { kind, start, end } of expectations) {
    const sendKind = { channel: 'sms' as const, isResponse: false, isCode: false, ...kind }
    for (let time = firstTime; time < firstTime + 48 * HOUR; time += 7 * MINUTE) {
      const sendTime = nextSendTime(live, sendKind, time)
      const isAllowed = indianTimeOfDay(time) >= start && indianTimeOfDay(time) < end
      assert.equal(sendTime === time, isAllowed, `${JSON.stringify(kind)} at ${new Date(time).toISOString()}`)
      if (!isAllowed) {
        assert.equal(indianTimeOfDay(sendTime), start, JSON.stringify(kind))
        assert.ok(sendTime > time && sendTime - time < 24 * HOUR)
      }
    }
  }
})

test('the rules of countries do not apply in TEST mode', () => {
  const sms = { channel: 'sms' as const, isResponse: false, isCode: false }
  const time = Date.parse('2026-03-11T03:45:00.000Z') // 09:15 in India
  const person = { mode: 'test' as const, phone: INDIAN_NUMBER }
  assert.equal(nextSendTime({ ...person, test_clock_id: null }, sms, time), time)
  assert.equal(nextSendTime({ ...person, test_clock_id: 'TC_1' }, sms, time), time)
  assert.equal(nextSendTime({ ...person, mode: 'live', test_clock_id: null }, sms, time), time + 45 * MINUTE)
})

test('messages to other countries are sent in the default hours', () => {
  const noon = Date.parse('2026-03-11T06:30:00.000Z')
  assert.equal(nextAllowedTime(FOREIGN_NUMBER, 'sms', undefined, noon), noon)
  const evening = Date.parse('2026-03-11T12:30:00.000Z') // 18:00 in India
  assert.equal(nextAllowedTime(FOREIGN_NUMBER, 'sms', undefined, evening), Date.parse('2026-03-12T04:30:00.000Z'))
})

test('a file with invalid rules is rejected with the fields that are wrong', () => {
  const text = readFileSync(new URL('../../data/rules/in.json', import.meta.url), 'utf8')
  const changed = (change: (rules: any) => void) => {
    const rules = JSON.parse(text)
    change(rules)
    return () => parseRules('in.json', JSON.stringify(rules))
  }
  assert.throws(
    changed((rules) => {
      rules.channels.sms.use = 'chat'
    }),
    /^Error: data\/rules\/in\.json is invalid: channels\.sms\.use must be one of "conversation", "link_only"; got "chat"$/,
  )
  assert.throws(
    changed((rules) => {
      rules.channels.sms.default_category = 'service'
      rules.channels.sms.categories.promotional.end = '09:00'
      rules.channels.voice.categories.service.start = '25:00'
      rules.time_zone = 'Asia/Nowhere'
    }),
    /channels\.voice\.categories\.service: start and end must be times such as 09:30; channels\.sms has no category service; channels\.sms\.categories\.promotional: start must be before end; time_zone must be/,
  )
})
