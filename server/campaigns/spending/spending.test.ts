import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startApp } from '../../../test/support/app.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { signInMember } from '../../../test/support/console.ts'
import { aCandidate, createCampaignPartner, createPartner, errorPaths } from '../../../test/support/partners.ts'
import {
  cloudError,
  cloudWebhook,
  EXOTEL,
  type ProviderRequest,
  startProvider,
  TWILIO,
  twilioWebhook,
  WHATSAPP,
} from '../../../test/support/provider.ts'
import { until } from '../../../test/support/until.ts'
import type { ChannelName } from '../../channels/channel.ts'
import { saveCredentials } from '../../channels/credentials.ts'
import { saveTemplates } from '../../channels/templates/register.ts'
import { DAY } from '../../platform/clock.ts'
import { contactNow, startContactEngine } from '../contact/engine.ts'
import { countSegments, fetchCost } from './message-cost.ts'

const setUp = oncePerFile(async (t) => {
  const app = await startApp(t)
  const { context, clock } = app
  const provider = await startProvider(t)
  const settings = {
    whatsapp: { ...WHATSAPP, base_url: provider.url },
    twilio: { ...TWILIO, from: '+911409123456', base_url: provider.url },
    exotel: { ...EXOTEL, base_url: provider.url },
  }
  let nextPerson = 1

  /** Creates a LIVE organisation at noon with one channel and a price table. */
  async function createOrg(provision: keyof typeof settings = 'whatsapp', channel: ChannelName = 'whatsapp') {
    clock.set('2026-03-11T06:30:00.000Z')
    await sql`delete from contacts`.execute(context.db.queries)
    await sql`update messages set state = 'dropped' where state = 'queued'`.execute(context.db.queries)
    provider.received.length = 0
    provider.nextBehaviours.length = 0
    const partner = await createCampaignPartner(app, { mode: 'live' })
    const channelId = await context.db.transaction((tx) =>
      saveCredentials(tx, context.vault, clock, partner.orgId, channel, { ...settings[provision], per_second: 1000 }),
    )
    const put = (path: string, body: object) => partner.put(path, body)
    const prices = await put('/spending/price-table', {
      currency: 'INR',
      prices: [
        { channel: 'whatsapp', calling_code: '91', category: 'marketing', price: 1 },
        { channel: 'whatsapp', calling_code: '91', category: 'utility', price: 0.25 },
        { channel: 'whatsapp', calling_code: null, category: null, price: 5 },
        { channel: 'sms', calling_code: null, category: null, price: 0.5 },
        { channel: 'voice', calling_code: null, category: null, price: 2 },
      ],
      exchange_rates: [{ currency: 'USD', rate: 80 }],
    })
    assert.equal(prices.status, 200, JSON.stringify(prices.body))
    return {
      ...partner,
      channelId,
      async createCampaignOf(count: number, fields: object = {}) {
        const mandate = await partner.createMandate({ channels: [channel] })
        const candidates = Array.from({ length: count }, () => {
          const number = nextPerson++
          const isTwilioSms = provision === 'twilio' && channel === 'sms'
          return aCandidate(number, isTwilioSms ? { phone: `+1415555${1000 + number}` } : {})
        })
        const { campaign } = await partner.createCampaign(mandate.mandate_id, candidates, fields)
        return campaign.campaign_id as string
      },
      campaign: async (id: string) => (await partner.get(`/campaigns/${id}`)).body.data,
      spending: async (id: string) => (await partner.get(`/campaigns/${id}/spending`)).body.data,
      today: async () => (await partner.get('/spending')).body.data.spent_today as number,
      report: (status: object) => app.fetch(`/hooks/whatsapp/${channelId}`, cloudWebhook({ statuses: [status] })),
      reply: (to: string, text: string) => {
        const message = {
          from: to.replace('+', ''),
          id: `wamid.${text}-${nextPerson}`,
          type: 'text',
          text: { body: text },
        }
        return app.fetch(`/hooks/whatsapp/${channelId}`, cloudWebhook({ messages: [message] }))
      },
      pauses: async () =>
        (await partner.get('/events?types=campaign.paused')).body.data.items.map(({ data }: any) => data),
    }
  }
  return { app, context, clock, provider, createOrg }
})

const reportOf = ({ id, body }: ProviderRequest, status: string, fields: object = {}) => ({
  id,
  status,
  timestamp: '1',
  recipient_id: body.to,
  biz_opaque_callback_data: body.biz_opaque_callback_data,
  ...fields,
})

test('an organisation replaces its price table, and other organisations and TEST mode keep the prices of the operator', async () => {
  const { app, createOrg } = await setUp()
  const partner = await createOrg()
  const { body } = await partner.get('/spending')
  assert.deepEqual(
    { default: body.data.is_default, currency: body.data.price_table.currency, cap: body.data.daily_cap },
    { default: false, currency: 'INR', cap: null },
  )
  for (const other of [await createPartner(app), await createPartner(app, 'test', partner.orgId)])
    assert.equal((await other.get('/spending')).body.data.is_default, true)
  const price = { channel: 'sms', calling_code: '91', category: null, price: 1 }
  const repeated = await partner.put('/spending/price-table', {
    currency: 'INR',
    prices: [price, price],
    exchange_rates: [{ currency: 'INR', rate: 1 }],
  })
  assert.equal(repeated.status, 400)
  assert.deepEqual(errorPaths(repeated), ['prices[1]', 'exchange_rates[0].currency'])
  const invalid = await partner.put('/spending/price-table', {
    currency: 'rupees',
    prices: [
      { ...price, price: -1 },
      { ...price, channel: 'voice', price: 100_000 },
      { ...price, channel: 'email', price: 100_000.01 },
    ],
    exchange_rates: [],
  })
  assert.deepEqual(errorPaths(invalid), ['currency', 'prices[0].price', 'prices[2].price'])
  assert.equal((await partner.remove('/spending/price-table')).body.data.is_default, true)
})

test('a cost estimate has a line for each channel, country and kind of message', async () => {
  const { createOrg } = await setUp()
  const partner = await createOrg()
  const mandate = await partner.createMandate({
    channels: ['whatsapp', 'email'],
    follow_ups: [
      { after_hours: 24, channel: 'whatsapp' },
      { after_hours: 48, channel: 'email' },
    ],
  })
  const estimate = await partner.post('/spending/estimate', {
    mandate_id: mandate.mandate_id,
    recipients: [
      { phone_prefix: '+9198', count: 100 },
      { phone_prefix: '+1', count: 10 },
      { has_email: true, count: 3 },
    ],
  })
  assert.equal(estimate.status, 200, JSON.stringify(estimate.body))
  const { currency, first_messages, maximum, unreachable, lines } = estimate.body.data
  // Email is not set up, so that its follow-up is sent on WhatsApp, and candidates with only an email address are not reached.
  assert.deepEqual(
    { currency, first_messages, maximum, unreachable },
    { currency: 'INR', first_messages: 150, maximum: 450, unreachable: 3 },
  )
  assert.deepEqual(
    lines.map((line: any) => [line.kind, line.channel, line.calling_code, line.messages, line.price, line.amount]),
    [
      ['first_message', 'whatsapp', '91', 100, 1, 100],
      ['follow_up', 'whatsapp', '91', 200, 1, 200],
      ['first_message', 'whatsapp', null, 10, 5, 50],
      ['follow_up', 'whatsapp', null, 20, 5, 100],
    ],
  )
  const unknown = await partner.post('/spending/estimate', {
    mandate_id: 'JM_00000000000000000000000000',
    recipients: [{ phone_prefix: '+91', count: 1 }],
  })
  assert.deepEqual([unknown.status, errorPaths(unknown)], [400, ['mandate_id']])
})

test('two workers together do not exceed the spend cap of a campaign, which pauses and resumes when the cap is raised', async () => {
  const { context, provider, createOrg } = await setUp()
  const partner = await createOrg()
  const campaignId = await partner.createCampaignOf(100, { spend_cap: 30.5 })
  await Promise.all([contactNow(context), contactNow(context)])
  assert.equal(provider.received.length, 30)
  const campaign = await partner.campaign(campaignId)
  assert.deepEqual([campaign.status, campaign.paused_by, campaign.spend_cap], ['paused', 'campaign_cap', 30.5])
  const [event, ...others] = await partner.pauses()
  assert.deepEqual([event.campaign_id, event.paused_by, others.length], [campaignId, 'campaign_cap', 0])

  const lower = await partner.put(`/campaigns/${campaignId}/spend-cap`, { spend_cap: 29 })
  assert.deepEqual([lower.status, errorPaths(lower)], [400, ['spend_cap']])
  const raised = await partner.put(`/campaigns/${campaignId}/spend-cap`, { spend_cap: 45 })
  assert.deepEqual([raised.status, raised.body.data.paused_by], [200, null])
  await Promise.all([contactNow(context), contactNow(context)])
  assert.equal(provider.received.length, 45)
  await partner.put(`/campaigns/${campaignId}/spend-cap`, { spend_cap: null })
  await Promise.all([contactNow(context), contactNow(context)])
  await contactNow(context) // workers that claim from the same batch each get a part of it, and leave the next batch
  assert.equal(provider.received.length, 100)
  assert.equal(new Set(provider.received.map(({ body }) => body.to)).size, 100)
  assert.deepEqual(
    [(await partner.spending(campaignId)).spent, await partner.today(), (await partner.campaign(campaignId)).status],
    [100, 100, 'running'],
  )
})

test('the daily cap applies to all campaigns together, until it is raised or the next day', async () => {
  const { context, clock, provider, createOrg } = await setUp()
  const partner = await createOrg()
  assert.equal((await partner.put('/spending/daily-cap', { daily_cap: 10 })).status, 200)
  const campaignIds = [await partner.createCampaignOf(15), await partner.createCampaignOf(15)]
  await Promise.all([contactNow(context), contactNow(context)])
  assert.equal(provider.received.length, 10)
  assert.equal(await partner.today(), 10)
  const statuses = async () =>
    Promise.all(campaignIds.map(async (id) => (await partner.campaign(id)).paused_by ?? 'running'))
  assert.ok((await statuses()).includes('daily_cap'))
  await partner.put('/spending/daily-cap', { daily_cap: 12 })
  await contactNow(context)
  assert.equal(provider.received.length, 12)
  clock.advance(DAY)
  await contactNow(context)
  assert.equal(provider.received.length, 24)
  assert.equal(await partner.today(), 12)
  clock.advance(DAY)
  await contactNow(context)
  assert.equal(provider.received.length, 30)
  assert.deepEqual(await statuses(), ['running', 'running'])
})

test('a campaign that the daily cap paused resumes at midnight in India while nothing else is due', async (t) => {
  const { context, clock, provider, createOrg } = await setUp()
  const partner = await createOrg()
  await partner.put('/spending/daily-cap', { daily_cap: 1 })
  const campaignId = await partner.createCampaignOf(2)
  const engine = startContactEngine(context)
  t.after(() => engine.stop())
  await until(async () => (await partner.campaign(campaignId)).paused_by === 'daily_cap')
  await until(() => provider.received.length === 1)
  clock.set('2026-03-11T18:30:00.000Z') // midnight in India
  await until(async () => (await partner.campaign(campaignId)).status === 'running')
  clock.set('2026-03-12T06:30:00.000Z')
  await until(() => provider.received.length === 2)
})

test('a campaign that a person paused is not resumed by a higher cap or the next day', async () => {
  const { context, clock, provider, createOrg } = await setUp()
  const partner = await createOrg()
  const campaignId = await partner.createCampaignOf(2, { spend_cap: 1 })
  assert.equal((await partner.post(`/campaigns/${campaignId}/pause`)).status, 200)
  await partner.put(`/campaigns/${campaignId}/spend-cap`, { spend_cap: 100 })
  clock.advance(DAY)
  await contactNow(context)
  assert.deepEqual([provider.received.length, (await partner.campaign(campaignId)).status], [0, 'paused'])
})

test('a campaign that a cap paused can be paused by a person, and then stays paused until it is resumed', async () => {
  const { context, clock, provider, createOrg } = await setUp()
  const partner = await createOrg()
  await partner.put('/spending/daily-cap', { daily_cap: 1 })
  const campaignId = await partner.createCampaignOf(2)
  await contactNow(context)
  assert.equal((await partner.campaign(campaignId)).paused_by, 'daily_cap')
  const paused = await partner.post(`/campaigns/${campaignId}/pause`)
  assert.deepEqual([paused.status, paused.body.data.status, paused.body.data.paused_by], [200, 'paused', undefined])
  assert.equal((await partner.post(`/campaigns/${campaignId}/pause`)).status, 409)
  clock.advance(DAY)
  await contactNow(context)
  await partner.put('/spending/daily-cap', { daily_cap: 100 })
  await contactNow(context)
  assert.deepEqual([provider.received.length, (await partner.campaign(campaignId)).status], [1, 'paused'])
  assert.equal((await partner.post(`/campaigns/${campaignId}/resume`)).status, 200)
  await contactNow(context)
  assert.equal(provider.received.length, 2)
})

test('a campaign that a cap paused resumes when reported costs leave enough for the next message', async () => {
  const { context, provider, createOrg } = await setUp()
  const partner = await createOrg()
  const pricing = { billable: true, pricing_model: 'PMP', category: 'utility' }
  for (const cap of ['campaign_cap', 'daily_cap']) {
    provider.received.length = 0
    const spentBefore = await partner.today()
    await partner.put('/spending/daily-cap', { daily_cap: cap === 'daily_cap' ? spentBefore + 1 : null })
    const campaignId = await partner.createCampaignOf(2, cap === 'campaign_cap' ? { spend_cap: 1 } : {})
    const pauses = async () => (await partner.pauses()).filter((data: any) => data.campaign_id === campaignId).length
    await contactNow(context)
    const [sent] = provider.received
    assert.deepEqual([provider.received.length, (await partner.campaign(campaignId)).paused_by], [1, cap])
    await partner.report(reportOf(sent!, 'sent', { pricing }))
    await contactNow(context)
    assert.deepEqual(
      [provider.received.length, await pauses()],
      [1, 1],
      'the amount left, 0.75, does not cover a message',
    )
    await partner.report(reportOf(sent!, 'delivered', { pricing: { ...pricing, billable: false } }))
    await contactNow(context)
    assert.deepEqual([provider.received.length, (await partner.campaign(campaignId)).status], [2, 'running'])
    assert.equal(await pauses(), 1)
  }
})

test('the last responses of a completed or archived campaign are dropped if they exceed a cap', async () => {
  const { context, provider, createOrg } = await setUp()
  for (const status of ['completed', 'archived']) {
    const partner = await createOrg()
    const campaignId = await partner.createCampaignOf(1, { spend_cap: 1 })
    await contactNow(context)
    assert.equal(provider.received.length, 1)
    await partner.reply(provider.received[0]!.body.to, status === 'completed' ? 'STOP' : 'yes')
    if (status === 'archived') await partner.remove(`/campaigns/${campaignId}`)
    await contactNow(context)
    const campaign = await partner.campaign(campaignId)
    assert.deepEqual([campaign.status, campaign.paused_by, provider.received.length], [status, undefined, 1])
    const { rows } = await sql<{ state: string }>`
      select state from messages where campaign_id = ${campaignId} and direction = 'out' order by message_id`.execute(
      context.db.queries,
    )
    assert.deepEqual(
      rows.map(({ state }) => state),
      ['sent', 'dropped'],
    )
    assert.deepEqual(await partner.pauses(), [])
  }
})

test('a call is estimated to take three minutes', async () => {
  const { context, createOrg } = await setUp()
  const partner = await createOrg('twilio', 'voice')
  const campaignId = await partner.createCampaignOf(1)
  await contactNow(context)
  assert.deepEqual([(await partner.spending(campaignId)).spent, await partner.today()], [6, 6])
})

test('a message that the provider rejects costs nothing', async () => {
  const { context, provider, createOrg } = await setUp()
  const partner = await createOrg()
  const campaignId = await partner.createCampaignOf(1)
  provider.nextBehaviours.push(cloudError(400, 131009))
  await contactNow(context)
  assert.equal(provider.received.length, 1)
  assert.equal((await partner.spending(campaignId)).spent, 0)
})

test('the category and the price class that WhatsApp reports replace the estimate, once', async () => {
  const { context, provider, createOrg } = await setUp()
  const partner = await createOrg()
  const campaignId = await partner.createCampaignOf(3)
  await contactNow(context)
  assert.equal((await partner.spending(campaignId)).spent, 3)
  const [utility, free, failed] = provider.received as [ProviderRequest, ProviderRequest, ProviderRequest]
  const pricing = { billable: true, pricing_model: 'PMP', category: 'utility' }
  for (let repeat = 0; repeat < 3; repeat++) {
    await partner.report(reportOf(utility, 'sent', { pricing }))
    await partner.report(reportOf(utility, 'delivered', { pricing }))
  }
  await partner.report(reportOf(utility, 'read'))
  await partner.report(reportOf(free, 'delivered', { pricing: { ...pricing, billable: false } }))
  await partner.report(reportOf(failed, 'failed', { errors: [{ code: 131026, title: 'undeliverable' }] }))
  const { spent, reported } = await partner.spending(campaignId)
  assert.deepEqual([spent, reported, await partner.today()], [0.25, 0.25, 0.25])
})

test('the price of an SMS of Twilio is requested after the delivery, converted, and counted once', async () => {
  const { app, context, provider, createOrg } = await setUp()
  const partner = await createOrg('twilio', 'sms')
  const campaignId = await partner.createCampaignOf(1)
  await contactNow(context)
  const [sms] = provider.received
  const estimate = countSegments(sms!.body.Body) * 0.5
  assert.equal((await partner.spending(campaignId)).spent, estimate)
  const target = new URL(sms!.body.StatusCallback).pathname
  const messageId = target.split('/').at(-1)!
  const report = () =>
    app.fetch(target, twilioWebhook(app.url + target, { MessageSid: sms!.id, MessageStatus: 'delivered' }))
  await report()
  await report()
  const { rows } = await sql`select from pgboss.job where name = 'campaigns.message-cost'`.execute(context.db.queries)
  assert.equal(rows.length, 1)
  const fetchPrice = (price: string | null) => {
    provider.nextBehaviours.push({ status: 200, body: { sid: sms!.id, price, price_unit: 'USD' } })
    return fetchCost(context, { message_id: messageId, attempt: 0 })
  }
  await fetchPrice(null)
  assert.equal((await partner.spending(campaignId)).spent, estimate)
  await fetchPrice('-0.00750')
  assert.ok(provider.received.at(-1)!.path.endsWith(`/Messages/${sms!.id}.json`))
  await report()
  await fetchCost(context, { message_id: messageId, attempt: 0 })
  const { spent, reported } = await partner.spending(campaignId)
  assert.deepEqual([spent, reported, await partner.today()], [0.6, 0.6, 0.6])
  const otherCurrency = await partner.put('/spending/price-table', {
    currency: 'USD',
    prices: [{ channel: 'sms', calling_code: null, category: null, price: 1 }],
    exchange_rates: [],
  })
  assert.deepEqual([otherCurrency.status, errorPaths(otherCurrency)], [400, ['currency']])
})

test('the estimated cost of an SMS to India counts the segments of the registered text, and is 0 if no text is approved', async () => {
  const { context, provider, clock, createOrg } = await setUp()
  const partner = await createOrg('exotel', 'sms')
  const setTemplates = (templates: object[]) =>
    context.db.transaction((tx) =>
      saveCredentials(tx, context.vault, clock, partner.orgId, 'sms', {
        ...EXOTEL,
        base_url: provider.url,
        per_second: 1000,
        templates,
      }),
    )
  const words = 'These questions take about five minutes and you can stop at any time. '
  const ending = 'Acme Staffing has questions about the job of {title}. Answer here: {link}'
  const segments = new Set<number>()
  for (const text of [ending, `${words.repeat(3)}${ending}`]) {
    await setTemplates([{ ...EXOTEL.templates[0]!, text }])
    const campaignId = await partner.createCampaignOf(1)
    provider.nextBehaviours.push({ status: 200, body: { SMSMessage: { Sid: `sms-${text.length}` } } })
    await contactNow(context)
    const count = countSegments(provider.received.at(-1)!.body.Body)
    segments.add(count)
    assert.equal((await partner.spending(campaignId)).spent, count * 0.5)
  }
  assert.equal(segments.size, 2)
  const campaignId = await partner.createCampaignOf(1)
  const before = await partner.put('/spending/daily-cap', { daily_cap: 0.5 })
  assert.equal(before.status, 200, JSON.stringify(before.body))
  await setTemplates([EXOTEL.templates[3]!])
  await contactNow(context)
  assert.equal((await partner.spending(campaignId)).spent, 0)
  assert.equal((await partner.campaign(campaignId)).paused_by ?? null, null, 'a refused SMS does not reach the cap')
})

test('the price of an SMS to India is that of the category of its registered text', async () => {
  const { app, context, clock, provider, createOrg } = await setUp()
  const partner = await createOrg('exotel', 'sms')
  const priceOf = (category: string, price: number) => ({ channel: 'sms', calling_code: '91', category, price })
  const prices = [priceOf('service_explicit', 0.5), priceOf('promotional', 2)]
  await partner.put('/spending/price-table', { currency: 'INR', prices, exchange_rates: [] })
  await context.db.transaction((tx) =>
    saveTemplates(tx, clock, partner.scope, [
      {
        channel: 'sms',
        purpose: 'invitation',
        language: 'en',
        text: EXOTEL.templates[0]!.text,
        category: 'promotional',
        header: '600001',
        registry_id: '1107000000000000009',
        status: 'approved',
      },
    ]),
  )
  const { mandate_id } = await partner.createMandate({
    channels: ['sms'],
    follow_ups: [{ after_hours: 24, channel: 'sms' }],
  })
  const estimate = await partner.post('/spending/estimate', {
    mandate_id,
    recipients: [
      { phone_prefix: '+91', count: 10 },
      { phone_prefix: '+1', count: 2 },
    ],
  })
  const { lines, unreachable } = estimate.body.data
  assert.deepEqual(
    lines.map((line: any) => [line.kind, line.calling_code, line.category, line.messages, line.price]),
    [
      ['first_message', '91', 'promotional', 10, 2],
      ['follow_up', '91', 'service_explicit', 10, 0.5],
    ],
  )
  assert.equal(unreachable, 2, 'Exotel sends SMS to India only')

  provider.nextBehaviours.push({ status: 200, body: { SMSMessage: { Sid: 'sms-promotional' } } })
  const campaignId = await partner.createCampaignOf(1)
  await contactNow(context)
  const [sms] = provider.received
  assert.equal(sms!.body.From, '600001')
  assert.equal((await partner.spending(campaignId)).spent, countSegments(sms!.body.Body) * 2)
  await app.fetch(new URL(sms!.body.StatusCallback).pathname, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ SmsSid: 'sms-promotional', Status: 'delivered', SmsUnits: '3' }).toString(),
  })
  assert.equal((await partner.spending(campaignId)).spent, 6)
})

test('Exotel reports the segments of an SMS, and its price on request', async () => {
  const { app, context, provider, createOrg } = await setUp()
  const partner = await createOrg('exotel', 'sms')
  const campaignId = await partner.createCampaignOf(1)
  await contactNow(context)
  const [sms] = provider.received
  const target = new URL(sms!.body.StatusCallback).pathname
  const messageId = target.split('/').at(-2)!
  const body = new URLSearchParams({ SmsSid: sms!.id, Status: 'delivered', SmsUnits: '3' }).toString()
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  for (let repeat = 0; repeat < 2; repeat++)
    assert.equal((await app.fetch(target, { method: 'POST', headers, body })).status, 200)
  assert.deepEqual((({ spent, reported }) => [spent, reported])(await partner.spending(campaignId)), [1.5, 0])
  provider.nextBehaviours.push({ status: 200, body: { SMSMessage: { Sid: sms!.id, Price: '0.390000' } } })
  await fetchCost(context, { message_id: messageId, attempt: 0 })
  assert.deepEqual((({ spent, reported }) => [spent, reported])(await partner.spending(campaignId)), [0.39, 0.39])
})

test('segments have 160 ASCII characters, or 153 in a longer SMS, and 70 or 67 other characters', () => {
  assert.deepEqual(
    ['a'.repeat(160), 'a'.repeat(161), 'a'.repeat(307), 'न'.repeat(70), 'न'.repeat(71)].map(countSegments),
    [1, 2, 3, 1, 2],
  )
})

test('a recruiter can set the daily cap in the console, as the steps to LIVE say', async () => {
  const { app } = await setUp()
  const { orgId } = await app.fixtures.createOrg()
  const recruiter = await signInMember(app, orgId, 'recruiter')
  const step = async () =>
    (await recruiter.get(`/orgs/${orgId}/channels`)).body.data.steps.find((each: any) => each.step === 'daily_cap')
  assert.deepEqual(await step(), { step: 'daily_cap', done: false, required: false, who: 'recruiter' })
  assert.equal((await recruiter.put(`/orgs/${orgId}/live/spending/daily-cap`, { daily_cap: 5 })).status, 200)
  assert.equal((await step()).done, true)
  const viewer = await signInMember(app, orgId, 'viewer')
  assert.equal((await viewer.put(`/orgs/${orgId}/live/spending/daily-cap`, { daily_cap: 6 })).status, 403)
})

test('another organisation or mode cannot read or change the spending of a campaign', async () => {
  const { app, createOrg } = await setUp()
  const partner = await createOrg()
  const campaignId = await partner.createCampaignOf(1)
  for (const other of [await createPartner(app), await createPartner(app, 'test', partner.orgId)]) {
    assert.equal((await other.get(`/campaigns/${campaignId}/spending`)).status, 404)
    assert.equal((await other.put(`/campaigns/${campaignId}/spend-cap`, { spend_cap: 1 })).status, 404)
  }
})
