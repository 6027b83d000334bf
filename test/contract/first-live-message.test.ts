import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { contactNow } from '../../server/campaigns/contact/engine.ts'
import type { ChannelName } from '../../server/channels/channel.ts'
import { startApp } from '../support/app.ts'
import { oncePerFile } from '../support/cleanup.ts'
import { GUPSHUP, registerAtPortal, startIndianProviders } from '../support/india.ts'
import { aCandidate, createCampaignPartner } from '../support/partners.ts'
import { EXOTEL, EXOTEL_VOICE, startProvider, TWILIO, WHATSAPP } from '../support/provider.ts'
import { startSmtp } from '../support/smtp.ts'
import { BUSINESS_ACCOUNT_ID, startTemplateApi } from '../support/whatsapp-templates.ts'
import { readBlocks } from './code-blocks.ts'
import { environmentOf, runShell } from './page-runner.ts'

// Follows the guide "Set up channels" for each provider, from its settings to the first LIVE message that the simulated provider receives.

const GUIDE = 'docs/guides/set-up-channels.md'
const root = fileURLToPath(new URL('../../', import.meta.url))

const setUp = oncePerFile(async (t) => {
  const app = await startApp(t)
  app.clock.set('2026-03-11T06:30:00.000Z') // 12:00 in India
  const folder = mkdtempSync(join(tmpdir(), 'attestry-first-message-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const smtp = await startSmtp()
  t.after(() => smtp.stop())
  return { app, folder, smtp, india: await startIndianProviders(t, app.clock) }
})

/** An organisation that sets up one channel with the commands of the guide. In the commands, `$ORG` is its ID. */
async function createOrganisation(channel: ChannelName) {
  const { app, folder } = await setUp()
  const partner = await createCampaignPartner(app, { mode: 'live' })
  const run = async (...commands: string[]) => {
    const script = [`attestry() { ${join(root, 'bin/attestry.mjs')} "$@"; }`, ...commands].join('\n')
    const { code, output } = await runShell(script, folder, { ...environmentOf(app), ORG: partner.orgId })
    assert.equal(code, 0, output)
    return output
  }
  return {
    /** Saves the settings of the channel, then runs the other commands. */
    async set(settings: object, ...commands: string[]) {
      writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings))
      await run(`attestry channels set --org $ORG --channel ${channel} --data - < settings.json`, ...commands)
    },
    /** Checks the channel, and sends the first message to a candidate with this number. */
    async sendFirstMessage(phone: string, ...commands: string[]) {
      const output = await run(...commands, 'attestry channels check --org $ORG')
      assert.doesNotMatch(output, new RegExp(`^${channel} +refused`, 'm'))
      const { mandate_id } = await partner.createMandate({ channels: [channel] })
      await partner.createCampaign(mandate_id, [aCandidate(1, { phone, email: 'asha@example.com' })])
      await contactNow(app.context)
    },
  }
}

/** Returns the settings in the guide that have a field, with the values of an account at the simulated provider. */
function settingsInGuide(expected: Record<string, unknown>, account: Record<string, unknown>): object {
  const settings = readBlocks(GUIDE, ['json'])
    .map(({ text }) => JSON.parse(text))
    .find((each) => Object.entries(expected).every(([name, value]) => each[name] === value))
  assert.ok(settings)
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, account[name] ?? value]))
}

test('WhatsApp: the texts are submitted and approved, and the first message is a template', async (t) => {
  const [api, provider] = [await startTemplateApi(t), await startProvider(t)]
  const account = { ...WHATSAPP, business_account_id: BUSINESS_ACCOUNT_ID }
  const settings = settingsInGuide({ phone_number_id: WHATSAPP.phone_number_id }, account)
  const { set, sendFirstMessage } = await createOrganisation('whatsapp')
  await set(
    { ...settings, base_url: api.url },
    'attestry channels templates create --org $ORG --channel whatsapp --category utility',
    'attestry channels templates submit --org $ORG',
  )
  for (const template of api.templates) template.status = 'APPROVED'
  await set({ ...settings, base_url: api.url }, 'attestry channels templates refresh --org $ORG')
  await set({ ...settings, base_url: provider.url })
  await sendFirstMessage('+919810000001')
  const { body } = provider.received[0]!
  assert.deepEqual([body.to, body.template.name], ['919810000001', 'attestry_invitation'])
})

for (const account of [EXOTEL, GUPSHUP])
  test(`SMS through ${account.provider}: the texts are registered, and the mobile operator accepts the first message`, async () => {
    const { folder, india } = await setUp()
    const settings = settingsInGuide({ provider: account.provider, from: 'ACMEJB' }, account)
    const { set, sendFirstMessage } = await createOrganisation('sms')
    await set(
      { ...settings, base_url: india.url },
      `attestry channels templates create --org $ORG --channel sms --header ${account.from}`,
      'attestry channels templates export --org $ORG --channel sms --output templates.csv',
    )
    const texts = readFileSync(join(folder, 'templates.csv'), 'utf8')
    writeFileSync(join(folder, 'approved.csv'), registerAtPortal(texts, india.operator))
    await sendFirstMessage('+919810000002', 'attestry channels templates import --org $ORG --data @approved.csv')
    assert.deepEqual(india.refusals, [])
    const { to, provider } = india.sent.at(-1)!
    assert.deepEqual([to.slice(-12), provider], ['919810000002', account.provider])
  })

test('SMS and calls through Twilio reach a number in another country', async (t) => {
  const provider = await startProvider(t)
  const settings = settingsInGuide({ account_sid: 'AC…' }, TWILIO)
  for (const channel of ['sms', 'voice'] as const) {
    const { set, sendFirstMessage } = await createOrganisation(channel)
    await set({ ...settings, base_url: provider.url })
    await sendFirstMessage('+14155550123')
    const { path, body } = provider.received.at(-1)!
    assert.match(path, channel === 'sms' ? /\/Messages\.json$/ : /\/Calls\.json$/)
    assert.equal(body.To, '+14155550123')
  }
})

test('calls through Exotel reach a number in India', async (t) => {
  const provider = await startProvider(t)
  const settings = settingsInGuide({ app_id: EXOTEL_VOICE.app_id }, EXOTEL_VOICE)
  const { set, sendFirstMessage } = await createOrganisation('voice')
  await set({ ...settings, base_url: provider.url })
  await sendFirstMessage('+919810000003')
  const { path, body } = provider.received.at(-1)!
  assert.match(path, /\/Calls\/connect\.json$/)
  assert.match(body.From, /9810000003$/)
})

test("emails are sent through the organisation's mail server", async () => {
  const { smtp } = await setUp()
  const settings = settingsInGuide({ from: 'Acme Staffing <jobs@acme.example>' }, { smtp_url: smtp.url })
  const { set, sendFirstMessage } = await createOrganisation('email')
  await set(settings)
  await sendFirstMessage('+919810000004')
  assert.match(smtp.received[0]!, /^To: .*asha@example\.com/m)
})
