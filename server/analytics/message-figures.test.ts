import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { aCandidate, createCampaignPartner, createPartner, errorPaths } from '../../test/support/partners.ts'
import {
  cloudError,
  cloudWebhook,
  EXOTEL,
  type ProviderRequest,
  startProvider,
  WHATSAPP,
} from '../../test/support/provider.ts'
import { contactNow } from '../campaigns/contact/engine.ts'
import type { ChannelName } from '../channels/channel.ts'
import { saveCredentials } from '../channels/credentials.ts'
import { parseMessageErrors, reasonOfFailure } from '../channels/failure-reasons.ts'
import { DAY } from '../platform/clock.ts'
import { aggregateMessages } from './message-figures.ts'

const setUp = oncePerFile(async (t) => {
  const app = await startApp(t)
  const { context, clock } = app
  const provider = await startProvider(t)
  let nextPerson = 1

  /** Contacts candidates of a new LIVE organisation at noon. */
  async function contact(channel: ChannelName, count: number, behaviours: typeof provider.nextBehaviours = []) {
    clock.set('2026-03-11T06:30:00.000Z')
    provider.received.length = 0
    provider.nextBehaviours.push(...behaviours)
    const partner = await createCampaignPartner(app, { mode: 'live' })
    const settings = channel === 'sms' ? EXOTEL : WHATSAPP
    const channelId = await context.db.transaction((tx) =>
      saveCredentials(tx, context.vault, clock, partner.orgId, channel, {
        ...settings,
        base_url: provider.url,
        per_second: 1000,
      }),
    )
    const mandate = await partner.createMandate({ channels: [channel] })
    const enrol = async () => {
      const candidates = Array.from({ length: count }, () => aCandidate(nextPerson++))
      const { campaign } = await partner.createCampaign(mandate.mandate_id, candidates)
      await contactNow(context)
      return campaign.campaign_id as string
    }
    return {
      ...partner,
      channelId,
      enrol,
      campaignId: await enrol(),
      figures: async (query = '') => (await partner.get(`/analytics/messages${query}`)).body.data,
      report: (request: ProviderRequest, status: string, fields: object = {}) =>
        app.fetch(
          `/hooks/whatsapp/${channelId}`,
          cloudWebhook({
            statuses: [
              {
                id: request.id,
                status,
                timestamp: '1',
                recipient_id: request.body.to,
                biz_opaque_callback_data: request.body.biz_opaque_callback_data,
                ...fields,
              },
            ],
          }),
        ),
    }
  }
  const aggregate = () => aggregateMessages(context.db, 10_000)
  return { app, clock, context, provider, contact, aggregate }
})

test('messages are counted once per state, and failures by reason with a remedy', async () => {
  const { provider, contact, aggregate } = await setUp()
  const partner = await contact('whatsapp', 5, [cloudError(400, 132001, 'template does not exist')])
  const [, first, second, third] = provider.received as ProviderRequest[]
  for (const status of ['sent', 'delivered', 'delivered', 'read', 'delivered']) await partner.report(first!, status)
  await partner.report(second!, 'delivered')
  for (let repeat = 0; repeat < 2; repeat++)
    await partner.report(third!, 'failed', { errors: [{ code: 131026, title: 'Message undeliverable' }] })
  const before = await partner.figures()
  // A message that was rejected has no template, because it was not sent with one.
  const common = { channel: 'whatsapp', kind: 'first_message', unknown: 0 }
  assert.deepEqual(before.messages, [
    { ...common, template_id: null, sent: 0, delivered: 0, read: 0, failed: 1, blocked_by_operator: 1 },
    {
      ...common,
      template_id: WHATSAPP.template.name,
      sent: 4,
      delivered: 2,
      read: 1,
      failed: 1,
      blocked_by_operator: 0,
    },
  ])
  assert.deepEqual(before.failures.map(({ reason, count }: any) => [reason, count]).sort(), [
    ['no_account', 1],
    ['template', 1],
  ])
  for (const { title, remedy } of before.failures) assert.ok(title.length > 10 && remedy.length > 10)
  assert.ok((await aggregate()) > 0)
  assert.deepEqual(await partner.figures(), before)
  assert.deepEqual(await partner.figures(`?campaign_id=${partner.campaignId}`), before)
  assert.deepEqual((await partner.figures('?from=2026-03-01&to=2026-03-10')).messages, [])
})

test('an SMS that the operator blocks is counted with its registered template', async () => {
  const { app, provider, contact } = await setUp()
  const partner = await contact('sms', 2)
  const [blocked, delivered] = provider.received as [ProviderRequest, ProviderRequest]
  const report = (request: ProviderRequest, fields: Record<string, string>) =>
    app.fetch(new URL(request.body.StatusCallback).pathname, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ SmsSid: request.id, ...fields }).toString(),
    })
  await report(blocked, { Status: 'failed', DetailedStatusCode: '651', DetailedStatus: 'EC_INVALID_PROMO_TIME' })
  await report(delivered, { Status: 'delivered' })
  const { messages, failures } = await partner.figures()
  const [{ template_id, sent, delivered: deliveredCount, failed, blocked_by_operator }] = messages
  assert.deepEqual(
    [template_id, sent, deliveredCount, failed, blocked_by_operator],
    [EXOTEL.templates[0]!.template_id, 2, 1, 1, 1],
  )
  assert.deepEqual([failures[0].reason, failures[0].blocked_by_operator], ['hours', true])
})

test('the number of rows that figures are read from does not grow with the number of messages', async () => {
  const { context, clock, contact, aggregate } = await setUp()
  const partner = await contact('whatsapp', 3)
  const countRows = async () => {
    await aggregate()
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from message_totals where org_id = ${partner.orgId} and subject = ''`.execute(
      context.db.queries,
    )
    return rows[0]!.count
  }
  const rowCount = await countRows()
  await partner.enrol()
  await partner.enrol()
  assert.equal(await countRows(), rowCount)
  assert.equal((await partner.figures()).messages[0].sent, 9)
  clock.advance(DAY)
  await partner.enrol()
  assert.equal(await countRows(), 2 * rowCount)
})

test('other organisations and modes have their own figures, and a campaign of another organisation is rejected', async () => {
  const { app, contact } = await setUp()
  const partner = await contact('whatsapp', 1)
  for (const other of [await createPartner(app), await createPartner(app, 'test', partner.orgId)]) {
    assert.deepEqual((await other.get('/analytics/messages')).body.data, { messages: [], failures: [] })
    const rejected = await other.get(`/analytics/messages?campaign_id=${partner.campaignId}`)
    assert.deepEqual([rejected.status, errorPaths(rejected)], [400, ['query.campaign_id']])
  }
})

test('the reason for a failure follows from the code in the error, or from its words', () => {
  assert.deepEqual(
    [
      reasonOfFailure('sms', 'HTTP 400, 21211, The To number is not valid'),
      reasonOfFailure('sms', 'error 30007'),
      reasonOfFailure('sms', '633, TEMPLATE_NOT_MATCHED'),
      reasonOfFailure('sms', '651, EC_INVALID_PROMO_TIME'),
      reasonOfFailure('sms', 'failed-dnd'),
      reasonOfFailure('whatsapp', 'HTTP 400, 131009, (#131009) rejected'),
      reasonOfFailure('email', '550 5.1.1 no such user'),
      reasonOfFailure('sms', 'HTTP 400, something new'),
      reasonOfFailure('sms', 'the sender 123456 must be the registered header of six letters'),
      reasonOfFailure('whatsapp', 'no WhatsApp template is registered for invitation; register one'),
      reasonOfFailure('whatsapp', 'HTTP 400, 131048, spam rate limit hit'),
    ],
    [
      'no_account',
      'filtered',
      'template',
      'hours',
      'preference',
      'template',
      'no_account',
      'other',
      'header',
      'template',
      'busy',
    ],
  )
  const reason = { title: 'a', remedy: 'b', blocked_by_operator: false }
  const none = { whatsapp: {}, sms: {}, voice: {}, email: {} }
  const parse = (fields: object) =>
    parseMessageErrors(
      JSON.stringify({ reviewed_at: '2026-01-01', reasons: { other: reason }, codes: none, phrases: none, ...fields }),
    )
  parse({})
  for (const [fields, message] of [
    [{ codes: { ...none, whatsapp: { 1: 'lost' } } }, /whatsapp: 1 has the unknown reason lost/],
    [{ phrases: { ...none, sms: { blocked: 'lost' } } }, /sms: blocked has the unknown reason lost/],
    [{ phrases: { ...none, sms: { Blocked: 'other' } } }, /sms: Blocked must be in lower case/],
    [{ reasons: { lost: reason } }, /reasons has no other/],
  ] as const)
    assert.throws(() => parse(fields), message)
})
