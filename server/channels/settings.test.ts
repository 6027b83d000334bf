import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { signInMember } from '../../test/support/console.ts'
import { EXOTEL, EXOTEL_VOICE, TWILIO, WHATSAPP } from '../../test/support/provider.ts'
import { SECOND } from '../platform/clock.ts'

const { account_sid: _, api_key: _key, api_token: _token, provider: _provider, ...dltSettings } = EXOTEL
const TWILIO_VOICE = { ...TWILIO, from: '+14155550100' }
const TWILIO_SMS = { ...TWILIO, from: '+14155550100' }
const GUPSHUP = { provider: 'gupshup', user_id: '2000123456', password: 'password-of-the-tests', ...dltSettings }

const setUp = oncePerFile(async (t) => {
  const app = await startApp(t)
  const { orgId } = await app.fixtures.createOrg()
  const owner = await signInMember(app, orgId, 'owner')
  const save = (channel: string, settings: object) => {
    app.clock.advance(SECOND) // rate limits use this clock
    return owner.put(`/orgs/${orgId}/channels/${channel}`, settings)
  }
  return { app, orgId, save }
})

/** Each channel with valid settings; then values of single fields that are accepted or rejected. */
const CHANNELS: Record<string, { channel: string; settings: object; accepted?: object[]; rejected: object[] }> = {
  'calls through Exotel': {
    channel: 'voice',
    settings: EXOTEL_VOICE,
    accepted: [
      { from: '1409123456' },
      { from: '+911409123456' },
      { languages: ['hi', 'en'] },
      { ring_seconds: 5 },
      { per_second: 0.01 },
      { per_second: 1000 },
    ],
    rejected: [
      { from: '140912345' },
      { from: '014091234567' },
      { from: '+14155550100' },
      { app_id: '29281a' },
      { app_id: '' },
      { account_sid: 'metro 1' },
      { api_key: 'short' },
      { languages: [] },
      { languages: ['hi', 'hi'] },
      { languages: ['fr'] },
      { ring_seconds: 4 },
      { ring_seconds: 121 },
      { per_second: 0 },
      { per_second: 1000.01 },
    ],
  },
  'calls through Twilio': {
    channel: 'voice',
    settings: TWILIO_VOICE,
    accepted: [{ ring_seconds: 120 }],
    rejected: [
      { from: '14155550100' },
      { from: '+0155550100' },
      { account_sid: 'AC0123' },
      { auth_token: 'has a space' },
      { ring_seconds: 121 },
    ],
  },
  'SMS through Twilio': {
    channel: 'sms',
    settings: TWILIO_SMS,
    accepted: [{ from: 'ACME' }, { from: '12345' }, { from: undefined, messaging_service_sid: `MG${'0a'.repeat(16)}` }],
    rejected: [{ from: 'A very long name' }, { from: undefined }, { messaging_service_sid: `MG${'0a'.repeat(16)}` }],
  },
  'SMS through Exotel': {
    channel: 'sms',
    settings: EXOTEL,
    accepted: [{ from: '123456' }, { category: 'promotional' }],
    rejected: [
      { api_token: '…' },
      { from: 'METRO' },
      { from: 'METROJB' },
      { from: 'METRO1' },
      { dlt_entity_id: '1234' },
      { category: 'other' },
      { listed_hosts: [] },
      { listed_hosts: ['https://example.com'] },
      { templates: [] },
      { templates: [EXOTEL.templates[0], EXOTEL.templates[0], EXOTEL.templates[3]] },
      { templates: [EXOTEL.templates[0]] },
      { templates: [EXOTEL.templates[3]] },
      { templates: [{ ...EXOTEL.templates[0], text: 'A text without the name of the organisation' }] },
    ],
  },
  'SMS through Gupshup': {
    channel: 'sms',
    settings: GUPSHUP,
    rejected: [{ user_id: '1234' }, { user_id: 'metro' }, { password: 'short' }, { from: 'METRO' }],
  },
  WhatsApp: {
    channel: 'whatsapp',
    settings: WHATSAPP,
    accepted: [{ template: undefined }, { business_account_id: '12345' }, { version: 'v21.0' }],
    rejected: [
      { access_token: 'EAAG…' },
      { phone_number_id: '1234' },
      { business_account_id: 'metro' },
      { version: '21' },
      { template: { name: 'Job Questions', languages: ['en'] } },
      { template: { name: 'job_questions', languages: [] } },
      { template: { name: 'job_questions', languages: ['English'] } },
      { other: 1 },
    ],
  },
}

for (const [name, { channel, settings, accepted = [], rejected }] of Object.entries(CHANNELS)) {
  test(`the settings of ${name} are checked field by field`, async () => {
    const { save } = await setUp()
    for (const fields of [{}, ...accepted]) {
      const { status, body } = await save(channel, { ...settings, ...fields })
      assert.equal(status, 200, `${JSON.stringify(fields)} ${JSON.stringify(body)}`)
    }
    for (const fields of rejected) {
      const { status, body } = await save(channel, { ...settings, ...fields })
      const description = `${JSON.stringify(fields)} ${JSON.stringify(body)}`
      assert.deepEqual([status, body.error?.code], [400, 'VALIDATION_FAILED'], description)
      const [field] = Object.keys(fields)
      assert.ok(
        body.error.details.every(({ path }: { path: string }) => path.split(/[.[]/)[0] === field || path === 'from'),
        description,
      )
    }
  })
}

test('the URL that the provider calls must be entered again for another account, and not for a new password', async () => {
  const { app, orgId, save } = await setUp()
  const cases: [channel: string, settings: object, sameAccount: object, otherAccounts: object[]][] = [
    [
      'sms',
      TWILIO_SMS,
      { auth_token: 'a-new-token-of-the-account-0123' },
      [{ from: '+14155550199' }, { account_sid: `AC${'1b'.repeat(16)}` }],
    ],
    [
      'sms',
      GUPSHUP,
      { listed_hosts: ['other.example'] },
      [{ user_id: '2000999999' }, { password: 'another-password' }],
    ],
    ['voice', EXOTEL_VOICE, { ring_seconds: 33 }, [{ app_id: '99999' }, { api_token: 'another-token-of-the-tests' }]],
    [
      'whatsapp',
      WHATSAPP,
      { access_token: 'another-access-token-of-the-tests' },
      [{ phone_number_id: '106540352242999' }, { business_account_id: '102290129340999' }],
    ],
  ]
  for (const [channel, settings, sameAccount, otherAccounts] of cases) {
    const calledAt = async (changes: object) => {
      const { status, body } = await save(channel, { ...settings, ...changes })
      assert.equal(status, 200, `${channel} ${JSON.stringify(changes)} ${JSON.stringify(body)}`)
      return body.data.channels.find((each: any) => each.channel === channel).webhook_called_at
    }
    for (const changes of otherAccounts) {
      await calledAt({})
      await app.context.db.pool.query('update channel_credentials set webhook_called_at = $1 where org_id = $2', [
        new Date(app.clock.now()),
        orgId,
      ])
      assert.ok(await calledAt(sameAccount), `${channel} ${JSON.stringify(sameAccount)}`)
      assert.equal(await calledAt({ ...sameAccount, ...changes }), null, `${channel} ${JSON.stringify(changes)}`)
    }
  }
})
