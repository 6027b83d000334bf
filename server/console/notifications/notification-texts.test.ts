import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConsoleNotification } from '../../../web/api-types/console.ts'
import type { VerifiedSkill } from '../../../web/api-types/partner.ts'
import hindi from '../../../web/translations/hi/index.ts'
import { setLanguage } from '../../../web/translations/translate.ts'
import { channelNames } from '../../channels/channel.ts'
import { loadMessageErrors } from '../../channels/failure-reasons.ts'
import { NOTIFICATION_TEXTS } from './notification-texts.ts'
import { KIND_OF_TYPE, type NotificationType } from './notification-types.ts'
import { RESULT_TEXTS } from './result-texts.ts'

// Before the modules of the console are loaded, because they translate some texts then.
setLanguage('hi', hindi)
const { notificationText } = await import('../../../web/console/notifications/notification-text.ts')
const { describeEvidence, describeReasons } = await import('../../../web/console/results/verdict-texts.ts')

const VALUES = {
  campaign: 'March intake',
  url: 'https://partner.example/hook',
  channel: 'sms',
  reason: 'The carrier changed its mind',
  reason_code: 'unknown',
  system: 'Greenhouse',
  balance: '99',
  name: 'Arc welding',
}
const { reason: _, ...WITHOUT_REASON } = VALUES

test('emails describe notifications in the Hindi words of the console', () => {
  const describe = (type: NotificationType, count: number, values: Record<string, string>) => {
    const inEmail = NOTIFICATION_TEXTS.hi[type](count, values)
    assert.equal(inEmail, notificationText({ type, count, values, text: 'In English' } as ConsoleNotification))
    return inEmail
  }
  for (const type of Object.keys(KIND_OF_TYPE) as NotificationType[]) {
    for (const count of [1, 2, 123_456]) assert.match(describe(type, count, VALUES), /[ऀ-ॿ]{3}/)
  }
  describe('skill_request_approved', 1, { ...VALUES, skill: 'SMAW' })
  describe('skill_request_rejected', 1, WITHOUT_REASON)
  const { reasons } = loadMessageErrors()
  for (const channel of channelNames)
    for (const [reason_code, { title }] of Object.entries(reasons)) {
      const text = describe('messages_failed', 1, { channel, reason_code, reason: title })
      assert.ok(text.endsWith(`: ${hindi[title]}`), `${reason_code}: ${text}`)
    }
})

test('emails describe verdicts in the Hindi words of the console', () => {
  const skill = { skill_id: 'sk_1', name: 'Arc welding', asked: 7 }
  const verdicts: [Pick<VerifiedSkill, 'verdict' | 'correct' | 'confidence'>, string][] = [
    [{ verdict: 'verified', correct: 6, confidence: 0.979 }, 'Arc welding सत्यापित (7 में से 6 सही, 97 % निश्चित)'],
    [{ verdict: 'not_verified', correct: 1, confidence: null }, 'Arc welding सत्यापित नहीं (7 में से 1 सही)'],
    [{ verdict: 'inconclusive', correct: 4, confidence: 0.6 }, 'Arc welding अनिर्णायक (7 में से 4 सही)'],
  ]
  for (const [verdict, text] of verdicts) {
    assert.equal(RESULT_TEXTS.hi.skill({ ...skill, ...verdict }), text)
    if (verdict.verdict !== 'inconclusive')
      assert.ok(text.endsWith(` (${describeEvidence({ ...skill, ...verdict })})`), text)
  }
  const knockout = { kind: 'knockout', key: 'licence' } as const
  for (const output of [
    { qualified: null, reasons: [] },
    { qualified: false, reasons: [{ kind: 'knockout_skipped', key: 'licence' } as const] },
    { qualified: false, reasons: [knockout] },
    { qualified: false, reasons: [knockout], enrichment: { licence: { answer: 'no' } } },
    { qualified: false, reasons: [knockout], enrichment: { licence: { answer: 'Next year' } } },
  ])
    assert.deepEqual(RESULT_TEXTS.hi.reasons(output), describeReasons(output, { questionText: () => undefined }))
  assert.deepEqual(
    [true, false, null].map(RESULT_TEXTS.hi.qualified),
    ['Qualified', 'Not qualified', 'Undecided'].map((text) => hindi[text]),
  )
})
