import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import PostalMime from 'postal-mime'
import { startApp } from '../../test/support/app.ts'
import { candidatePage, keyIndex } from '../../test/support/candidate.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { signInMember } from '../../test/support/console.ts'
import { aCandidate, createCampaignPartner } from '../../test/support/partners.ts'
import {
  cloudError,
  cloudWebhook,
  EXOTEL,
  type ProviderRequest,
  startProvider,
  TWILIO,
  twilioError,
  twilioWebhook,
  WHATSAPP,
} from '../../test/support/provider.ts'
import { startSmtp } from '../../test/support/smtp.ts'
import { until } from '../../test/support/until.ts'
import { readLink, yourDataCalls } from '../../test/support/your-data.ts'
import { findCandidacy } from '../campaigns/candidacy.ts'
import { candidatePageUrl } from '../campaigns/candidate-page/links.ts'
import { contactNow } from '../campaigns/contact/engine.ts'
import { listMessages } from '../campaigns/contact/messages.ts'
import { type CandidateChange, candidatesChanged } from '../campaigns/progress.ts'
import { hasReached } from '../campaigns/stages.ts'
import type { Context } from '../context.ts'
import { HOUR, MINUTE, SECOND } from '../platform/clock.ts'
import type { WorkflowInput } from '../workflows/schema.ts'
import type { ChannelName } from './channel.ts'
import { removeCredentials, saveCredentials } from './credentials.ts'
import { reasonOfFailure } from './failure-reasons.ts'

/** Returns the part of a callback URL after https://host/hooks/twilio/CH_…/ */
const pathAfterChannel = (url: string) => url.split('/').slice(6).join('/')

const pick = ({ status, reason }: { status: string; reason: string }) => ({ status, reason })

test('the body of a request with an unknown channel or without a signature is not read', {
  timeout: 60_000,
}, async (t) => {
  const { url, context, fixtures } = await startApp(t)
  const { orgId } = await fixtures.createOrg()
  const channelId = await context.db.transaction((tx) =>
    saveCredentials(tx, context.vault, context.clock, orgId, 'whatsapp', {
      ...WHATSAPP,
      base_url: 'http://127.0.0.1:9',
    }),
  )
  const signed = { 'x-hub-signature-256': 'sha256=0' }
  for (const [id, status, otherHeaders] of [
    ['CH_00000000000000000000000000', 404, {}],
    [channelId, 403, {}],
    [channelId, 413, { ...signed, 'content-length': 3 * 1024 * 1024 + 1 }],
  ] as const) {
    const headers = { 'content-type': 'application/json', 'content-length': 3_000_000, ...otherHeaders }
    const call = request(`${url}/hooks/whatsapp/${id}`, { method: 'POST', headers })
    call.flushHeaders() // without sending the body
    const [response] = (await once(call, 'response')) as [IncomingMessage]
    assert.equal(response.statusCode, status)
    call.destroy()
  }
})

const setUp = oncePerFile(async (t) => {
  const app = await startApp(t)
  const { context, clock, url } = app
  const { db, vault } = context
  const provider = await startProvider(t)
  const changes: CandidateChange[] = []
  t.after(candidatesChanged.observe(async (_tx, list) => void changes.push(...list)))

  const smtp = await startSmtp()
  t.after(smtp.stop)
  const settings: Record<ChannelName, object> = {
    email: { smtp_url: smtp.url, from: 'Metro <jobs@metro.example>' },
    whatsapp: { ...WHATSAPP, base_url: provider.url },
    sms: { ...TWILIO, from: '+14155550100', base_url: provider.url },
    voice: { ...TWILIO, from: '+911409123456', base_url: provider.url, per_second: 100 },
  }
  let nextPerson = 100

  /**
   * Enrols candidates at noon, in a new organisation with these channels. They are in India, unless the organisation sends SMS through
   * Twilio.
   */
  async function enrolCandidates(
    workflow: Partial<WorkflowInput> & { channels: ChannelName[] },
    count = 1,
    settingOverrides: object = {},
  ) {
    clock.set('2026-03-11T06:30:00.000Z')
    // Cancel everything that is due for earlier candidates.
    await sql`delete from contacts`.execute(db.queries)
    await sql`update messages set state = 'dropped' where state = 'queued'`.execute(db.queries)
    provider.received.length = 0
    provider.nextBehaviours.length = 0
    changes.length = 0
    const partner = await createCampaignPartner(app, { mode: 'live' })
    const channelIds = new Map<ChannelName, string>()
    await db.transaction(async (tx) => {
      await removeCredentials(tx, partner.orgId, 'whatsapp')
      for (const channel of workflow.channels) {
        const credentials = { ...settings[channel], ...settingOverrides }
        channelIds.set(channel, await saveCredentials(tx, vault, clock, partner.orgId, channel, credentials))
      }
    })
    const mandate = await partner.createMandate(workflow)
    const hasTwilioSms = workflow.channels.includes('sms') && !('provider' in settingOverrides)
    const candidates = Array.from({ length: count }, () => {
      const number = nextPerson++
      const phone = hasTwilioSms ? { phone: `+1415555${1000 + number}` } : {}
      return aCandidate(number, { email: `p${number}@example.com`, ...phone })
    })
    const { campaign } = await partner.createCampaign(mandate.mandate_id, candidates)
    const { rows } = await sql<{ candidate_id: string }>`
      select candidate_id from candidates where campaign_id = ${campaign.campaign_id} order by external_candidate_id collate "C"`.execute(
      db.queries,
    )
    const candidateId = rows[0]!.candidate_id
    const phone = candidates[0]!.phone
    return {
      ...partner,
      candidateId,
      phone,
      channelIds,
      messages: () => listMessages(db.queries, candidateId),
      candidate: async () => (await findCandidacy(db.queries, candidateId))!,
      async result() {
        const { body } = await partner.get(`/results?campaign_id=${campaign.campaign_id}`)
        return body.data.items[0]
      },
      whatsapp: (value: Parameters<typeof cloudWebhook>[0], secret?: string) =>
        app.fetch(`/hooks/whatsapp/${channelIds.get('whatsapp')}`, cloudWebhook(value, secret)),
      /** Sends a webhook request as Twilio does. */
      twilio(path: string, fields: Record<string, string>, token?: string) {
        const channel = path.startsWith('sms') || fields.MessageStatus ? 'sms' : 'voice'
        const target = `/hooks/twilio/${channelIds.get(channel)}/${path}`
        return app.fetch(target, twilioWebhook(url + target, fields, token))
      },
    }
  }

  let messageIds = 1000
  const nextMessageId = () => `wamid.in${messageIds++}`
  const toWhatsAppId = (phone: string) => phone.slice(1)
  const textMessage = (phone: string, body: string, fields: object = {}) => {
    return { from: toWhatsAppId(phone), id: nextMessageId(), timestamp: '1', type: 'text', text: { body }, ...fields }
  }
  const statusReport = ({ id, body }: ProviderRequest, status: string, fields: object = {}) => {
    return {
      id,
      status,
      timestamp: '1',
      recipient_id: body.to,
      biz_opaque_callback_data: body.biz_opaque_callback_data,
      ...fields,
    }
  }
  return {
    app,
    context,
    clock,
    url,
    provider,
    changes,
    smtp,
    enrolCandidates,
    nextMessageId,
    toWhatsAppId,
    textMessage,
    statusReport,
  }
})

test('a callback of Exotel without its code is rejected, also if the path is encoded', async () => {
  const { app, enrolCandidates } = await setUp()
  const { channelIds } = await enrolCandidates({ channels: ['sms'] })
  for (const provider of ['exotel', '%65xotel']) {
    const { status } = await app.fetch(`/hooks/${provider}/${channelIds.get('sms')}/status/MS_1/code`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-hub-signature-256': 'sha256=00' },
      body: 'Status=failed',
    })
    assert.equal(status, 403, provider)
  }
})

test('confirmation codes reach people who are restricted, and during a pause, but not after they have expired', async () => {
  const { app, context, clock, provider, enrolCandidates } = await setUp()
  const partner = await enrolCandidates({ channels: ['sms'] })
  const { candidateId } = partner
  await contactNow(context)
  assert.equal(provider.received.length, 1)
  const { person_id, campaign_id } = await partner.candidate()
  assert.equal((await partner.post(`/people/${person_id}/restrict`, {})).status, 200)
  await partner.patch(`/campaigns/${campaign_id}`, { status: 'paused' })
  const calls = yourDataCalls(app, 'candidate', (await readLink(app, candidateId)).split('/').at(-1)!)
  const started = await calls.start('export', 'phone')
  assert.equal(started.status, 200, JSON.stringify(started.body))
  await contactNow(context)
  assert.equal(provider.received.length, 2)
  const code = /\b\d{6}\b/.exec(provider.received[1]!.body.Body)![0]
  const owner = await signInMember(app, partner.orgId, 'owner')
  const shown = await owner.get(`/orgs/${partner.orgId}/live/candidates/${candidateId}`)
  assert.equal(shown.status, 200)
  assert.doesNotMatch(JSON.stringify(shown.body), new RegExp(code)) // nobody else can use the code
  const confirmed = await calls.confirm(started.body.data.request_id, { code })
  assert.equal(confirmed.status, 200, JSON.stringify(confirmed.body))
  assert.doesNotMatch(confirmed.body.data.export.json, new RegExp(code))
  await calls.start('erase', 'phone')
  clock.advance(16 * MINUTE)
  await contactNow(context)
  assert.equal(provider.received.length, 2)
})

test('a WhatsApp conversation completes, with every webhook delivered twice', async () => {
  const { context, url, provider, changes, enrolCandidates, nextMessageId, toWhatsAppId, textMessage, statusReport } =
    await setUp()
  const partner = await enrolCandidates({ channels: ['whatsapp'], languages: ['en', 'hi'] })
  const { phone } = partner
  await contactNow(context)
  assert.equal(provider.received.length, 1)
  const [firstMessage] = provider.received
  assert.equal(firstMessage!.body.type, 'template')

  // Out of order, with duplicates.
  for (const status of ['read', 'sent', 'delivered', 'read', 'failed'])
    assert.equal((await partner.whatsapp({ statuses: [statusReport(firstMessage!, status)] })).status, 200)
  assert.equal((await partner.messages())[0]!.state, 'read')
  assert.deepEqual(
    changes.flatMap((change) => change.channels.map(({ event }) => event)),
    ['sent', 'delivered', 'read'],
  )

  const payload = firstMessage!.body.template.components[1].parameters[0].payload
  let message: object = {
    from: toWhatsAppId(phone),
    id: 'wamid.first',
    type: 'button',
    button: { payload, text: 'Yes' },
    context: { id: firstMessage!.id },
  }
  for (let turn = 0; turn < 30; turn++) {
    for (let delivery = 0; delivery < 2; delivery++)
      assert.equal((await partner.whatsapp({ messages: [message] })).status, 200)
    await contactNow(context)
    assert.equal(provider.received.length, turn + 2, 'one response to each reply')
    const { state, status } = await partner.candidate()
    if (status !== 'pending') break
    const { body, id } = provider.received.at(-1)!
    assert.ok(JSON.stringify(body).includes(`${url}/c/`), 'with the link')
    const expectedValue = state.point.at === 'skills' ? String(keyIndex(state)) : 'yes'
    const { action, type } = body.interactive ?? {}
    const options =
      type === 'list' ? action.sections[0].rows : type === 'button' ? action.buttons.map(({ reply }: any) => reply) : []
    const choice =
      state.point.at === 'language'
        ? options.find((option: any) => option.id.endsWith(':hi'))
        : options.find((option: any) => option.id === `${state.step}:${expectedValue}`)
    message = choice
      ? {
          from: toWhatsAppId(phone),
          id: nextMessageId(),
          type: 'interactive',
          interactive: { type: `${type}_reply`, [`${type}_reply`]: choice },
          context: { id },
        }
      : textMessage(phone, 'In two weeks\0')
  }
  const result = await partner.result()
  assert.equal(result.status, 'completed')
  assert.equal(result.output.qualified, true)
  assert.equal(result.output.interest, 'interested')
  assert.equal(result.output.language, 'hi')
  assert.equal(result.output.channel, 'whatsapp')
  assert.equal(result.output.enrichment.notice.answer, 'In two weeks')
})

test('an SMS to India is not sent before 10:00, neither at the first attempt nor after the provider was busy', async () => {
  const { context, clock, provider, enrolCandidates } = await setUp()
  const partner = await enrolCandidates({ channels: ['sms'] }, 1, EXOTEL)
  clock.set('2026-03-12T03:45:00.000Z') // 09:15 in India
  await contactNow(context)
  assert.equal(provider.received.length, 0)
  assert.equal((await partner.messages())[0]!.state, 'queued')
  clock.set('2026-03-12T04:29:59.000Z')
  await contactNow(context)
  assert.equal(provider.received.length, 0)
  provider.nextBehaviours.push({ status: 429 })
  clock.set('2026-03-12T04:30:00.000Z')
  await contactNow(context)
  assert.equal(provider.received.length, 1)
  for (const time of ['2026-03-13T03:30:00.000Z', '2026-03-13T04:29:00.000Z']) {
    clock.set(time)
    await contactNow(context)
    assert.equal(provider.received.length, 1, time)
  }
  clock.set('2026-03-13T04:30:00.000Z')
  await contactNow(context)
  assert.equal(provider.received.length, 2)
  assert.equal((await partner.messages())[0]!.state, 'sent')
})

test('a question that was asked on WhatsApp has the same item and options on the page', async () => {
  const { context, url, provider, enrolCandidates, textMessage } = await setUp()
  const partner = await enrolCandidates({ channels: ['whatsapp'], languages: ['en'] })
  await contactNow(context)
  const token = candidatePageUrl(context, await partner.candidate())
    .split('/')
    .pop()!
  const page = candidatePage(url, token)
  const replyOnWhatsApp = async (text: string) => {
    await partner.whatsapp({ messages: [textMessage(partner.phone, text)] })
    await contactNow(context)
    return provider.received.at(-1)!.body
  }
  for (const text of ['yes', 'yes']) await replyOnWhatsApp(text)
  assertSameQuestion(await replyOnWhatsApp('In two weeks'), await page.view())
  await page.reply({ value: '2' })
  assertSameQuestion(await replyOnWhatsApp('what?'), await page.view())
  assertSameQuestion(await replyOnWhatsApp('C'), await page.view())
  const [form] = (await partner.candidate()).state.skills
  assert.deepEqual(
    form!.map(({ choice, channel }) => [choice, channel]),
    [
      [2, 'page'],
      [2, 'whatsapp'],
      [undefined, undefined],
      [undefined, undefined],
    ],
  )

  function assertSameQuestion(message: object, { prompts }: any) {
    const { ask, text, choices } = prompts.at(-1)
    assert.match(ask, /^skills\.0\./)
    const sentText = textsOf(message).join('\n')
    let position = 0
    for (const part of [...text.split('\n'), ...choices.map(({ label }: any) => label)]) {
      position = sentText.indexOf(part, position)
      assert.ok(position >= 0, `${part} is missing, or in another order, in ${sentText}`)
    }
  }
})

/** Returns all texts in a JSON value, in order. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : []
}

test('forged webhooks are rejected; webhooks of other organisations and unknown messages have no effect', async () => {
  const { app, context, provider, enrolCandidates, toWhatsAppId, textMessage, statusReport } = await setUp()
  const partner = await enrolCandidates({ channels: ['whatsapp', 'sms'] })
  await contactNow(context)
  const [firstMessage] = provider.received
  const signedContent = { messages: [textMessage(partner.phone, 'yes')] }
  assert.equal((await partner.whatsapp(signedContent, 'another-secret')).status, 403)
  const signedRequest = cloudWebhook(signedContent)
  const path = `/hooks/whatsapp/${partner.channelIds.get('whatsapp')}`
  assert.equal(
    (await app.fetch(path, { ...signedRequest, body: `${signedRequest.body} ` })).status,
    403,
    'body does not match the signature',
  )
  assert.equal((await app.fetch(path, { ...signedRequest, headers: {} })).status, 403)
  assert.equal((await app.fetch(`/hooks/whatsapp/${partner.channelIds.get('sms')}`, signedRequest)).status, 404)
  assert.equal((await app.fetch('/hooks/whatsapp/CH_00000000000000000000000000', signedRequest)).status, 404)
  assert.equal(
    (await partner.twilio('sms', { From: partner.phone, MessageSid: 'SM1', Body: '1' }, 'wrong-token')).status,
    403,
  )
  assert.equal((await app.fetch(path, { ...signedRequest, body: 'x'.repeat(3_200_000) })).status, 413)

  const otherOrg = await enrolCandidates({ channels: ['whatsapp'] })
  assert.equal((await otherOrg.whatsapp({ statuses: [statusReport(firstMessage!, 'failed')] })).status, 200)
  assert.equal((await otherOrg.whatsapp({ messages: [textMessage(partner.phone, 'STOP')] })).status, 200)
  assert.equal((await partner.whatsapp({ statuses: [{ id: 'wamid.unknown', status: 'failed' }] })).status, 200)
  assert.equal((await partner.whatsapp({ messages: [textMessage('+911111111111', 'hello')] })).status, 200)
  assert.equal(
    (await partner.whatsapp({ messages: [{ from: 'x', id: 1, type: {} } as object, null as any] })).status,
    200,
  )
  assert.equal(
    (await partner.whatsapp({ messages: [textMessage(partner.phone, 'yes', { id: 'wamid.\0' })] })).status,
    200,
  )
  assert.equal((await partner.whatsapp({ statuses: [{ id: '\0', status: 'read' }] })).status, 200)
  const reactions = [{ from: toWhatsAppId(partner.phone), id: 'wamid.r', type: 'reaction', reaction: { emoji: '👍' } }]
  assert.equal((await partner.whatsapp({ messages: reactions })).status, 200)
  const { status, state } = await partner.candidate()
  assert.deepEqual([status, state.step, (await partner.messages()).length], ['pending', 1, 1])
  assert.equal((await partner.messages())[0]!.state, 'sent')
})

test('rejected callbacks are limited per IP address, and a form must have few fields', async (t) => {
  const app = await startApp(t, { config: { publicUrl: 'https://verify.example' } })
  const { orgId } = await app.fixtures.createOrg()
  const { db, vault, clock, limits } = app.context
  const channelId = await db.transaction((tx) =>
    saveCredentials(tx, vault, clock, orgId, 'sms', { ...TWILIO, from: '+12025550100' }),
  )
  const path = `/hooks/twilio/${channelId}/sms`
  const manyFields = Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`f${index}`, 'x']))
  const send = (fields: Record<string, string>, token?: string) =>
    app.fetch(path, twilioWebhook(`https://verify.example${path}`, fields, token))
  const tooMany = await send(manyFields)
  assert.equal(tooMany.status, 400)
  assert.match(JSON.stringify(tooMany.body), /more than 500 fields/)
  const rule = { name: 'rejected-callbacks', kind: 'fixed', limit: 600, seconds: 60 } as const
  for (let count = 2; count < rule.limit; count++) await limits.limiter.charge('127.0.0.1', [rule], clock.now())
  const sms = { From: '+12025550111', MessageSid: 'SM1', Body: 'hello' }
  assert.equal((await send(sms, 'wrong-token')).status, 403)
  const rejected = await send(sms)
  assert.equal(rejected.status, 429)
  assert.ok(Number(rejected.headers.get('retry-after')) > 0)
  app.clock.advance(MINUTE)
  assert.equal((await send(sms)).status, 200)
})

test('the verification challenge is returned only for the right token', async () => {
  const { app, enrolCandidates } = await setUp()
  const { channelIds } = await enrolCandidates({ channels: ['whatsapp'] })
  const requestChallenge = (token: string, challenge = '1158201444') =>
    app.fetch(
      `/hooks/whatsapp/${channelIds.get('whatsapp')}?${new URLSearchParams({ 'hub.mode': 'subscribe', 'hub.challenge': challenge, 'hub.verify_token': token })}`,
    )
  const response = await requestChallenge(WHATSAPP.verify_token)
  assert.deepEqual([response.status, String(response.body)], [200, '1158201444'])
  assert.match(response.headers.get('content-type')!, /^text\/plain/)
  assert.equal((await requestChallenge('guessed-token')).status, 403)
  assert.equal((await requestChallenge(WHATSAPP.verify_token, '<script>')).status, 403)
})

test('a candidate who cannot be reached on WhatsApp gets a text message, after an immediate or a late failure', async () => {
  const { context, provider, changes, enrolCandidates, statusReport } = await setUp()
  for (const isLate of [false, true]) {
    const partner = await enrolCandidates({ channels: ['whatsapp', 'sms'] })
    if (!isLate) provider.nextBehaviours.push(cloudError(400, 131026))
    await contactNow(context)
    if (isLate) {
      assert.equal(provider.requestsOfKind('Messages').length, 0)
      const report = statusReport(provider.received[0]!, 'failed', {
        errors: [{ code: 131026, title: 'Undeliverable' }],
      })
      for (let delivery = 0; delivery < 2; delivery++) await partner.whatsapp({ statuses: [report] })
    }
    await contactNow(context)
    await contactNow(context)
    const [sms] = provider.requestsOfKind('Messages')
    assert.equal(provider.received.length, 2)
    assert.equal(sms!.body.To, partner.phone)
    assert.match(sms!.body.Body, /\/c\/[\w-]{43}\nYour data and your rights: \S+\/c\/[\w-]{43}\/data$/)
    assert.deepEqual(
      changes.flatMap((change) => change.channels.map(({ channel, event }) => `${channel} ${event}`)),
      isLate ? ['whatsapp sent', 'whatsapp failed', 'sms sent'] : ['whatsapp failed', 'sms sent'],
    )
    const path = new URL(sms!.body.StatusCallback).pathname.split('/').slice(4).join('/')
    for (const MessageStatus of ['delivered', 'sent', 'delivered'])
      assert.equal((await partner.twilio(path, { MessageSid: sms!.id, MessageStatus })).status, 200)
    assert.equal((await partner.messages())[1]!.state, 'delivered')

    const response = await partner.twilio('sms', { From: partner.phone, MessageSid: 'SMin1', Body: ' 1 ' })
    assert.match(String(response.body), /<Response><\/Response>/)
    await partner.twilio('sms', { From: partner.phone, MessageSid: 'SMin1', Body: ' 1 ' })
    await contactNow(context)
    assert.match(provider.received[2]!.body.Body, /^1\. Yes$/m)
    await partner.twilio('sms', { From: partner.phone, MessageSid: 'SMin2', Body: 'Yes' })
    await contactNow(context)
    assert.match(provider.received[3]!.body.Body, /^When can you start\?\nPlease answer in your own words\.$/m)
    await partner.twilio('sms', { From: partner.phone, MessageSid: 'SMin3', Body: 'skip' })
    await contactNow(context)
    assert.equal((await partner.candidate()).state.point.at, 'skills')
    // STOP takes effect immediately, on every channel.
    await partner.twilio('sms', { From: partner.phone, MessageSid: 'SMin4', Body: 'arrete', OptOutType: 'STOP' })
    const { status, reason } = await partner.result()
    assert.deepEqual([status, reason], ['declined', 'stopped'])
  }
})

test('a candidate who has opted out at the provider is not contacted on any channel', async () => {
  const { context, provider, enrolCandidates } = await setUp()
  for (const isLate of [false, true]) {
    const partner = await enrolCandidates({ channels: ['sms', 'whatsapp'] })
    if (!isLate) provider.nextBehaviours.push(twilioError(400, 21610))
    await contactNow(context)
    if (isLate) {
      const { id, body } = provider.received[0]!
      const path = new URL(body.StatusCallback).pathname.split('/').slice(4).join('/')
      await partner.twilio(path, { MessageSid: id, MessageStatus: 'undelivered', ErrorCode: '21610' })
    }
    await contactNow(context)
    assert.equal(provider.received.length, 1)
    const { status, reason } = await partner.result()
    assert.deepEqual([status, reason], ['declined', 'stopped'])
  }
})

test('delivery reports are applied before the response to the send, and after a lost response', async () => {
  const { context, clock, provider, changes, enrolCandidates, statusReport } = await setUp()
  type Contact = Awaited<ReturnType<Awaited<ReturnType<typeof enrolCandidates>>['candidate']>>
  const contactOf = ({ contact_step, channel, started_at }: Contact) => [contact_step, channel, started_at]
  const partner = await enrolCandidates({
    channels: ['whatsapp', 'sms'],
    follow_ups: [{ after_hours: 24, channel: 'whatsapp' }],
  })
  provider.nextBehaviours.push(async (received) => {
    await partner.whatsapp({ statuses: [statusReport(received, 'delivered')] })
  })
  await contactNow(context)
  assert.equal((await partner.messages())[0]!.state, 'delivered')
  assert.deepEqual(
    changes.flatMap((change) => change.channels.map(({ event }) => event)),
    ['sent', 'delivered'],
  )
  clock.advance(24 * HOUR)
  provider.nextBehaviours.push('reset')
  await contactNow(context)
  assert.equal(provider.received.length, 2, 'the follow-up')
  assert.equal((await partner.messages())[1]!.state, 'unknown')
  clock.advance(HOUR)
  await contactNow(context)
  assert.equal(provider.received.length, 2, 'not repeated')
  await partner.whatsapp({ statuses: [statusReport(provider.received[1]!, 'delivered')] })
  assert.equal((await partner.messages())[1]!.state, 'delivered')
  assert.equal((await partner.candidate()).contact_step, 1)

  // The first message of a candidate: the report is the first contact.
  const firstContact = await enrolCandidates({ channels: ['whatsapp'] })
  provider.nextBehaviours.push('reset')
  await contactNow(context)
  assert.deepEqual(contactOf(await firstContact.candidate()), [null, null, null])
  await firstContact.whatsapp({ statuses: [statusReport(provider.received[0]!, 'delivered')] })
  assert.deepEqual(contactOf(await firstContact.candidate()), [0, 'whatsapp', new Date(clock.now())])

  // A send with unknown outcome turns out to have failed: the next channel is used.
  const secondPartner = await enrolCandidates({ channels: ['whatsapp', 'sms'] })
  provider.nextBehaviours.push('reset')
  await contactNow(context)
  await secondPartner.whatsapp({ statuses: [statusReport(provider.received[0]!, 'failed')] })
  await contactNow(context)
  assert.equal(provider.requestsOfKind('Messages').length, 1)
})

test('an email links to the page, where the conversation continues', async () => {
  const { app, context, url, smtp, enrolCandidates } = await setUp()
  const partner = await enrolCandidates({ channels: ['email'] })
  await contactNow(context)
  assert.equal(smtp.received.length, 1)
  const { text } = await PostalMime.parse(smtp.received[0]!)
  const token = new RegExp(`${url}/c/([\\w-]{43})`).exec(text!)![1]
  const response = await app.fetch(`/api/v1/candidate/${token}/reply`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ step: 1, value: 'yes', client_id: 'a' }),
  })
  assert.equal(response.body.data.step, 2)
  await contactNow(context)
  assert.equal(smtp.received.length, 1)
  assert.equal((await partner.candidate()).channel, 'email')
})

test('a WhatsApp user without a phone number is recognised by the message they reply to, and then by their user ID', async () => {
  const { context, provider, enrolCandidates, nextMessageId } = await setUp()
  const partner = await enrolCandidates({ channels: ['whatsapp'], languages: ['en'] })
  await contactNow(context)
  const userId = 'IN.13491208655302741918'
  const contacts = [{ profile: { name: 'Asha', username: '@asha' }, user_id: userId }]
  const message = (body: string, fields: object = {}) => {
    return { from_user_id: userId, id: nextMessageId(), type: 'text', text: { body }, ...fields }
  }
  const unknown = message('yes')
  await partner.whatsapp({ messages: [unknown], contacts })
  assert.equal((await partner.candidate()).state.step, 1, 'nothing identifies the sender')

  const answer = message('yes', { context: { id: provider.received[0]!.id } })
  for (let delivery = 0; delivery < 2; delivery++) await partner.whatsapp({ messages: [answer], contacts })
  assert.equal((await partner.candidate()).state.step, 2)
  await contactNow(context)
  assert.equal(provider.received.length, 2)
  assert.equal(provider.received[1]!.body.to, partner.phone.slice(1))

  const { from_user_id: _, ...withoutSender } = message('yes')
  await partner.whatsapp({ messages: [withoutSender], contacts })
  assert.equal((await partner.candidate()).state.step, 3, 'recognised by the only contact')
  await contactNow(context)

  await partner.whatsapp({ messages: [message('STOP')] })
  assert.deepEqual(pick(await partner.result()), { status: 'declined', reason: 'stopped' })
  const mandate = await partner.createMandate({ channels: ['whatsapp'] })
  const { campaign } = await partner.createCampaign(mandate.mandate_id, [aCandidate(1, { phone: partner.phone })])
  const { body } = await partner.get(`/results?campaign_id=${campaign.campaign_id}`)
  assert.deepEqual(pick(body.data.items[0]), { status: 'declined', reason: 'stopped' })
})

test('STOP of an unknown WhatsApp user takes effect when a status report links the user to a phone number', async () => {
  const { context, clock, provider, enrolCandidates, nextMessageId, statusReport } = await setUp()
  const partner = await enrolCandidates({
    channels: ['whatsapp'],
    follow_ups: [{ after_hours: 1, channel: 'whatsapp' }],
  })
  const sendStop = (userId: string) =>
    partner.whatsapp({
      messages: [{ id: nextMessageId(), type: 'text', text: { body: 'stop' } }],
      contacts: [{ user_id: userId }],
    })
  const reportTo = (userId: string) => ({
    ...statusReport(provider.received[0]!, 'delivered'),
    recipient_user_id: userId,
  })
  const [userId, invalidUserId] = ['IN.2', 'in.2']
  for (const id of [userId, invalidUserId, userId]) assert.equal((await sendStop(id)).status, 200)
  await contactNow(context)
  assert.equal(provider.received.length, 1)
  await partner.whatsapp({ statuses: [reportTo(invalidUserId)] })
  assert.equal((await partner.candidate()).status, 'pending', 'the user ID is not valid')
  const report = reportTo(userId)
  for (let delivery = 0; delivery < 2; delivery++) await partner.whatsapp({ statuses: [report] })
  assert.deepEqual(pick(await partner.result()), { status: 'declined', reason: 'stopped' })
  clock.advance(2 * HOUR)
  await contactNow(context)
  assert.equal(provider.received.length, 1)
})

/** Claims the message of an organisation, and runs a change before it is sent. */
async function changeAfterClaim(t: TestContext, context: Context, orgId: string, change: () => Promise<unknown>) {
  const { pool } = context.db
  const client = await pool.connect()
  t.after(() => client.release())
  // The sender waits for this row, to which it adds the cost of the message.
  await client.query('begin')
  await client.query(`insert into daily_spending (org_id, mode, day, spent) values ($1, 'live', '2026-03-11', 0)`, [
    orgId,
  ])
  const sending = contactNow(context)
  await until(async () => {
    const { rowCount } = await pool.query(`select from messages where org_id = $1 and state = 'sending'`, [orgId])
    return rowCount === 1
  })
  await change()
  await client.query('rollback')
  await sending
}

test('a message that was claimed before a pause of its campaign is sent when the campaign resumes', async (t) => {
  const { context, provider, enrolCandidates } = await setUp()
  const partner = await enrolCandidates({ channels: ['whatsapp'] })
  const { campaign_id } = await partner.candidate()
  const spent = async () => (await partner.get(`/campaigns/${campaign_id}/spending`)).body.data.spent
  await changeAfterClaim(t, context, partner.orgId, async () =>
    assert.equal((await partner.post(`/campaigns/${campaign_id}/pause`)).status, 200),
  )
  await contactNow(context)
  assert.equal(provider.received.length, 0)
  assert.deepEqual([(await partner.messages())[0]!.state, await spent()], ['queued', 0])
  await partner.post(`/campaigns/${campaign_id}/resume`)
  await contactNow(context)
  assert.equal(provider.received.length, 1)
  assert.equal((await partner.messages())[0]!.state, 'sent')
  assert.ok((await spent()) > 0)
})

test('a message whose lease has expired is not sent under it', async (t) => {
  const { context, clock, provider, enrolCandidates } = await setUp()
  const slow = await enrolCandidates({ channels: ['whatsapp'] })
  await changeAfterClaim(t, context, slow.orgId, async () => clock.advance(3 * MINUTE))
  assert.equal(provider.received.length, 0)
  assert.equal((await slow.messages())[0]!.state, 'queued')
  await contactNow(context)
  assert.equal(provider.received.length, 1, 'with a new lease')

  const settled = await enrolCandidates({ channels: ['whatsapp'] })
  await changeAfterClaim(t, context, settled.orgId, async () => {
    clock.advance(3 * MINUTE)
    await contactNow(context) // another process, which settles the lost send
  })
  await contactNow(context)
  assert.equal(provider.received.length, 0)
  assert.equal((await settled.messages())[0]!.state, 'unknown')
})

test('a message that was claimed before an opt-out or a restriction is not sent after it', async (t) => {
  const { context, provider, enrolCandidates, textMessage } = await setUp()
  const { pool } = context.db
  const optedOut = await enrolCandidates({ channels: ['whatsapp'] })
  await changeAfterClaim(t, context, optedOut.orgId, () =>
    optedOut.whatsapp({ messages: [textMessage(optedOut.phone, 'STOP')] }),
  )
  await contactNow(context)
  assert.deepEqual(pick(await optedOut.result()), { status: 'declined', reason: 'stopped' })
  assert.equal(provider.received.length, 1, 'only the response to STOP is sent')
  assert.equal(provider.received[0]!.body.type, 'text')
  const { rows } = await pool.query(
    `select state, coalesce(cost, 0)::int as cost from messages where org_id = $1 and contact_step = 0`,
    [optedOut.orgId],
  )
  assert.deepEqual(rows, [{ state: 'dropped', cost: 0 }])

  const restricted = await enrolCandidates({ channels: ['whatsapp'] })
  const { person_id } = await restricted.candidate()
  await changeAfterClaim(t, context, restricted.orgId, () => restricted.post(`/people/${person_id}/restrict`, {}))
  await contactNow(context)
  assert.equal(provider.received.length, 0)
  assert.equal((await restricted.post(`/people/${person_id}/unrestrict`, {})).status, 200)
  await contactNow(context)
  assert.equal(provider.received.length, 1)
})

test('the response to STOP of the last open candidate of a paused campaign is sent', async () => {
  const { context, provider, enrolCandidates, textMessage } = await setUp()
  const partner = await enrolCandidates({ channels: ['whatsapp'] })
  await contactNow(context)
  const { campaign_id } = await partner.candidate()
  await partner.post(`/campaigns/${campaign_id}/pause`)
  await partner.whatsapp({ messages: [textMessage(partner.phone, 'STOP')] })
  await contactNow(context)
  assert.equal((await partner.get(`/campaigns/${campaign_id}`)).body.data.status, 'completed')
  assert.deepEqual(
    provider.received.map(({ body }) => body.type),
    ['template', 'text'],
  )
  assert.match(provider.received[1]!.body.text.body, /^You will not get any more messages from us\./)
})

test('a response that was queued before an opt-out is not sent after it', async () => {
  const { context, provider, enrolCandidates, textMessage } = await setUp()
  const partner = await enrolCandidates({ channels: ['whatsapp'] }, 2)
  await contactNow(context)
  const { campaign_id } = await partner.candidate()
  await partner.post(`/campaigns/${campaign_id}/pause`)
  await partner.whatsapp({ messages: [textMessage(partner.phone, 'yes')] })
  await partner.whatsapp({ messages: [textMessage(partner.phone, 'STOP')] })
  await partner.post(`/campaigns/${campaign_id}/resume`)
  await contactNow(context)
  const texts = provider.received.filter(({ body }) => body.to === partner.phone.slice(1) && body.type !== 'template')
  assert.equal(texts.length, 1, 'only the response to STOP is sent')
})

test('erasing a person deletes the link of their WhatsApp user ID, and a later STOP is stored without it', async () => {
  const { context, provider, enrolCandidates, nextMessageId, textMessage } = await setUp()
  const partner = await enrolCandidates({ channels: ['whatsapp'] })
  await contactNow(context)
  const [firstMessage] = provider.received
  await partner.whatsapp({ messages: [textMessage(partner.phone, 'yes', { from_user_id: 'IN.3' })] })
  const countLinks = async () => {
    const { rows } = await sql<{ count: string }>`
      select count(*) from whatsapp_users where org_id = ${partner.orgId}`.execute(context.db.queries)
    return Number(rows[0]!.count)
  }
  assert.equal(await countLinks(), 1)
  const { person_id } = await partner.candidate()
  assert.equal(
    (await partner.post(`/people/${person_id}/erase`, { basis: 'DPDP section 12', requested_by: 'the person' })).status,
    200,
  )
  assert.equal(await countLinks(), 0)
  const stop = { id: nextMessageId(), from_user_id: 'IN.3', type: 'text', text: { body: 'STOP' } }
  assert.equal((await partner.whatsapp({ messages: [{ ...stop, context: { id: firstMessage!.id } }] })).status, 200)
  const { rows } = await sql`select 1 from opt_outs where org_id = ${partner.orgId}`.execute(context.db.queries)
  assert.equal(rows.length, 1)
})

test('an SMS to India invites the candidate to the page and never asks for a reply', async () => {
  const { context, clock, provider, url, enrolCandidates } = await setUp()
  await enrolCandidates({ channels: ['sms'], follow_ups: [{ after_hours: 1, channel: 'sms' }] }, 1, EXOTEL)
  await contactNow(context)
  clock.advance(90 * MINUTE)
  await contactNow(context)
  const texts = provider.received.map(({ body }) => body.Body as string)
  assert.equal(texts.length, 2)
  for (const text of texts) {
    assert.match(text, new RegExp(`Answer here: ${url}/c/`))
    assert.doesNotMatch(text, /reply|STOP|^\d\./im, text)
  }
})

test('an SMS through Exotel has the DLT IDs and the registered text, and its callbacks update the message', async () => {
  const { app, context, provider, url, enrolCandidates } = await setUp()
  const partner = await enrolCandidates({ channels: ['sms'], languages: ['en', 'hi'] }, 1, {
    ...EXOTEL,
    auth_token: undefined,
  })
  await contactNow(context)
  const [request] = provider.received
  const { Body, StatusCallback, ...fields } = request!.body
  assert.deepEqual(fields, {
    From: 'METROJ',
    To: partner.phone,
    EncodingType: 'plain',
    DltEntityId: '1101000000000000001',
    DltTemplateId: '1107000000000000001',
    SmsType: 'transactional_opt_in',
    CustomField: (await partner.messages())[0]!.message_id,
  })
  const pageUrl = candidatePageUrl(context, await partner.candidate())
  assert.equal(
    Body,
    `Acme Staffing invites you to answer a few questions about the job of Electrician. Answer here: ${pageUrl}`,
  )
  const report = (callback: string, fields: Record<string, string>) =>
    app.fetch(callback.replace(url, ''), {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ SmsSid: request!.id, To: partner.phone, ...fields }).toString(),
    })
  assert.equal((await report(`${StatusCallback}x`, { Status: 'delivered' })).status, 403)
  assert.equal((await report(StatusCallback.replace(/[^/]+$/, ''), { Status: 'delivered' })).status, 403)
  const twilioPath = `/hooks/twilio/${partner.channelIds.get('sms')}/sms`
  assert.equal((await app.fetch(twilioPath, twilioWebhook(url + twilioPath, { Body: 'yes' }))).status, 403)
  assert.equal((await partner.messages())[0]!.state, 'sent')
  for (const status of ['sending', 'sent', 'delivered', 'delivered'])
    assert.equal((await report(StatusCallback, { Status: status })).status, 200)
  assert.equal((await partner.messages())[0]!.state, 'delivered')
  const { body } = await partner.get(
    `/campaigns/${(await partner.candidate()).campaign_id}/candidates/${partner.candidateId}/contact-record`,
  )
  assert.equal(body.data.messages[0].template_id, '1107000000000000001')
})

test('an operator’s refusal is stored, and the next channel is used', async () => {
  const { app, context, provider, url, enrolCandidates } = await setUp()
  const partner = await enrolCandidates({ channels: ['sms', 'whatsapp'] }, 1, EXOTEL)
  await contactNow(context)
  const { body, id } = provider.received[0]!
  const form = { SmsSid: id, Status: 'failed', DetailedStatusCode: '23082', DetailedStatus: 'FAILED_DLT_TEMPLATE' }
  await app.fetch(body.StatusCallback.replace(url, ''), {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  })
  const [message] = await partner.messages()
  assert.equal(message!.state, 'failed')
  assert.equal(message!.error, '23082, FAILED_DLT_TEMPLATE')
  await contactNow(context)
  assert.equal(provider.requestsOfKind('messages').length, 1)
})

test('quiet hours apply to contacts, not to responses', async () => {
  const { context, clock, provider, enrolCandidates, textMessage } = await setUp()
  const partner = await enrolCandidates({
    channels: ['whatsapp'],
    follow_ups: [{ after_hours: 9, channel: 'whatsapp' }],
  })
  await contactNow(context)
  clock.set('2026-03-11T15:40:00Z') // ten past nine in the evening
  await contactNow(context)
  assert.equal(provider.received.length, 1, 'no follow-up at night')
  clock.set('2026-03-12T03:29:00Z')
  await contactNow(context)
  assert.equal(provider.received.length, 1)
  clock.set('2026-03-12T03:30:00Z')
  await contactNow(context)
  assert.equal(provider.received.length, 2)
  clock.set('2026-03-12T17:00:00Z')
  await partner.whatsapp({ messages: [textMessage(partner.phone, 'haan')] })
  await contactNow(context)
  assert.equal(provider.received.length, 3, 'a reply at night gets a response')
})

test('a reply after the conversation has expired or the campaign was archived changes nothing and gets no response', async () => {
  const { app, context, clock, provider, enrolCandidates, textMessage } = await setUp()
  const endings: [reason: string, end: (partner: Awaited<ReturnType<typeof enrolCandidates>>) => Promise<unknown>][] = [
    [
      'expired',
      async () => {
        clock.advance(72 * HOUR)
        await contactNow(context)
      },
    ],
    ['stopped', async (partner) => partner.remove(`/campaigns/${(await partner.candidate()).campaign_id}`)],
  ]
  for (const [reason, end] of endings) {
    const partner = await enrolCandidates({ channels: ['whatsapp'] })
    const reply = (text: string) => partner.whatsapp({ messages: [textMessage(partner.phone, text)] })
    await contactNow(context)
    await reply('yes')
    await contactNow(context)
    await end(partner)
    const readState = async () => {
      await app.context.events.sequence()
      const { body: events } = await partner.get('/events')
      return { result: await partner.result(), credits: (await partner.get('/credits')).body.data, events: events.data }
    }
    const stateBefore = await readState()
    assert.deepEqual([stateBefore.result.status, stateBefore.result.reason], ['failed', reason])
    const sentCount = provider.received.length

    for (const text of ['yes', 'no', 'STOP']) assert.equal((await reply(text)).status, 200)
    await contactNow(context)
    assert.deepEqual(await readState(), stateBefore)
    assert.equal(provider.received.length, sentCount)
  }
})

test('a message that is sent while its campaign is archived counts as a contact, and a failed one does not', async () => {
  const { context, provider, changes, enrolCandidates } = await setUp()
  for (const isSent of [true, false]) {
    const partner = await enrolCandidates({ channels: ['voice'] })
    const { campaign_id } = await partner.candidate()
    const archive = async () => assert.equal((await partner.remove(`/campaigns/${campaign_id}`)).status, 200)
    provider.nextBehaviours.push(async () => {
      await archive()
      return isSent ? undefined : twilioError(400, 21211)
    })
    await contactNow(context)
    const { status, stages } = await partner.candidate()
    assert.deepEqual([status, hasReached(stages, 'contacted')], ['failed', isSent])
    assert.deepEqual(
      changes.flatMap((change) => change.channels.map(({ channel, event }) => `${channel} ${event}`)),
      [isSent ? 'voice sent' : 'voice failed'],
    )
    assert.deepEqual(
      changes.flatMap((change) => change.calls.map(({ outcome }) => outcome)),
      isSent ? ['placed'] : ['placed', 'failed'],
    )
  }
})

test('sends stay within the provider’s rate and pause when the provider asks for it', async () => {
  const { context, clock, provider, enrolCandidates } = await setUp()
  await enrolCandidates({ channels: ['sms'] }, 4, { per_second: 2 })
  const sentCounts: number[] = []
  for (let round = 0; round < 4; round++) {
    await contactNow(context)
    sentCounts.push(provider.received.length)
    clock.advance(SECOND / 2)
  }
  assert.deepEqual(sentCounts, [2, 3, 4, 4])

  const partner = await enrolCandidates({ channels: ['whatsapp'] })
  provider.nextBehaviours.push({ ...cloudError(429, 130429), headers: { 'retry-after': '90' } })
  await contactNow(context)
  clock.advance(80 * SECOND)
  await contactNow(context)
  assert.equal(provider.received.length, 1)
  clock.advance(MINUTE)
  await contactNow(context)
  await contactNow(context)
  assert.equal(provider.received.length, 2)
  assert.equal((await partner.messages())[0]!.state, 'sent')
})

test('a call asks questions by voice and accepts keys and speech', async () => {
  const { context, provider, changes, enrolCandidates } = await setUp()
  const partner = await enrolCandidates({ channels: ['voice'], languages: ['en', 'hi', 'or'] })
  await contactNow(context)
  const [call] = provider.requestsOfKind('Calls')
  assert.equal(call!.body.To, partner.phone)
  const CallSid = call!.id
  const sendTurn = async (address: string, fields: object = {}) => {
    const { status, body, headers } = await partner.twilio(pathAfterChannel(address), {
      CallSid,
      CallStatus: 'in-progress',
      ...fields,
    } as Record<string, string>)
    assert.equal(status, 200)
    assert.match(headers.get('content-type')!, /^text\/xml/)
    const action = /action="([^"]+)"/.exec(body)?.[1] ?? ''
    return { twiml: body as string, action }
  }
  let turn = await sendTurn(call!.body.Url)
  assert.match(turn.twiml, /automated call on behalf of Metro Ltd/)
  assert.match(
    turn.twiml,
    /<Gather input="dtmf speech" language="en-IN".*press 1.*press 2.*<\/Gather><Gather.*<Say[^>]*>Thank you. Goodbye.<\/Say><Hangup\/>/,
  )
  assert.equal(turn.twiml.split('<Gather').length, 3, 'silence repeats the question once')
  const consentUrl = turn.action
  turn = await sendTurn(consentUrl, { Digits: '7' })
  assert.match(turn.twiml, /did not understand/)
  turn = await sendTurn(turn.action, { Digits: '9' })
  assert.match(turn.twiml, /May we ask you/)
  turn = await sendTurn(turn.action, { SpeechResult: 'Yes.', Confidence: '0.9' })
  assert.match(turn.twiml, /Which language/)
  assert.ok(!turn.twiml.includes('ଓଡ଼ିଆ'), 'a language without a voice is not offered')
  const languageUrl = turn.action
  turn = await sendTurn(languageUrl, { Digits: '2' })
  assert.match(turn.twiml, /language="hi-IN"/)
  const stepBefore = (await partner.candidate()).state.step
  turn = await sendTurn(languageUrl, { Digits: '2' })
  assert.equal((await partner.candidate()).state.step, stepBefore, 'a duplicate answer')
  assert.doesNotMatch(turn.twiml, /बीप के बाद बोलिए/)
  turn = await sendTurn(turn.action, { Digits: '1' })
  assert.match(turn.twiml, /बीप के बाद बोलिए/, 'an answer in words')
  turn = await sendTurn(turn.action, { SpeechResult: 'दो हफ़्ते में & <जल्दी>' })
  for (let count = 0; count < 20; count++) {
    const { state } = await partner.candidate()
    if (state.point.at !== 'skills') break
    turn = await sendTurn(turn.action, { Digits: String(keyIndex(state)! + 1) })
  }
  turn = await sendTurn(turn.action, { Digits: '1' })
  assert.ok(!turn.twiml.includes('<Gather'))
  assert.match(turn.twiml, /<Hangup\/>/)
  const statusFields = { CallSid, CallStatus: 'completed', CallDuration: '184' }
  for (let delivery = 0; delivery < 2; delivery++)
    await partner.twilio(pathAfterChannel(call!.body.StatusCallback), statusFields)
  assert.deepEqual(
    changes.flatMap((change) => change.calls),
    [
      { outcome: 'placed', seconds: 0 },
      { outcome: 'answered', seconds: 184 },
    ],
  )
  await contactNow(context)
  assert.equal(provider.received.length, 1, 'only the one call')
  const result = await partner.result()
  assert.deepEqual([result.status, result.output.qualified, result.output.channel], ['completed', true, 'voice'])
  assert.equal(result.output.enrichment.notice.answer, 'दो हफ़्ते में & <जल्दी>')
  assert.match(
    (await sendTurn(consentUrl, { Digits: '1' })).twiml,
    /<Hangup\/>/,
    'after the end, the call is only hung up',
  )
  const unknownCallUrl = call!.body.Url.replace(/MS_\w+$/, 'MS_00000000000000000000000000')
  assert.ok(!(await sendTurn(unknownCallUrl)).twiml.includes('<Say'), 'unknown call')
})

test('in a call, "not now" leads to another call at the time that the candidate chooses', async () => {
  const { context, clock, provider, enrolCandidates } = await setUp()
  const partner = await enrolCandidates({ channels: ['voice'], languages: ['en'] })
  await contactNow(context)
  const sendTurn = async (address: string, fields: object = {}) => {
    const { body } = await partner.twilio(pathAfterChannel(address), {
      CallSid: provider.requestsOfKind('Calls')[0]!.id,
      CallStatus: 'in-progress',
      ...fields,
    } as Record<string, string>)
    return { twiml: body as string, action: /action="([^"]+)"/.exec(body)?.[1] ?? '' }
  }
  const firstTurn = await sendTurn(provider.requestsOfKind('Calls')[0]!.body.Url)
  assert.match(firstTurn.twiml, /For yes, press 1.*For no, press 2.*For Not now, press 3.*press 0/)
  const laterTurn = await sendTurn(firstTurn.action, { Digits: '3' })
  assert.match(laterTurn.twiml, /When may we contact you again\?.*For Later today, press 1.*For Never, press 3/)
  for (let delivery = 0; delivery < 2; delivery++) {
    const { twiml } = await sendTurn(laterTurn.action, { SpeechResult: 'Tomorrow.' })
    assert.match(twiml, /contact you again tomorrow.*<Hangup\/>/)
    assert.ok(!twiml.includes('<Gather'))
  }
  const statusUrl = pathAfterChannel(provider.requestsOfKind('Calls')[0]!.body.StatusCallback)
  const CallSid = provider.requestsOfKind('Calls')[0]!.id
  await partner.twilio(statusUrl, { CallSid, CallStatus: 'completed', CallDuration: '20' })
  clock.advance(24 * HOUR)
  await contactNow(context)
  assert.equal(provider.requestsOfKind('Calls').length, 2)
  const secondCall = provider.requestsOfKind('Calls')[1]!
  const secondTurn = await sendTurn(secondCall.body.Url, { CallSid: secondCall.id })
  assert.match(secondTurn.twiml, /May we ask you.*press 0/)
})

test('the duration of a call is at most a day, and 0 if it cannot be read', async () => {
  const { context, provider, changes, enrolCandidates } = await setUp()
  for (const [CallDuration, seconds] of [
    ['unknown', 0],
    ['86401', 86_400],
  ] as const) {
    const partner = await enrolCandidates({ channels: ['voice'] })
    await contactNow(context)
    const [call] = provider.received
    const statusFields = { CallSid: call!.id, CallStatus: 'completed', CallDuration }
    const { status } = await partner.twilio(pathAfterChannel(call!.body.StatusCallback), statusFields)
    assert.equal(status, 200)
    assert.deepEqual(
      changes.flatMap((change) => change.calls),
      [
        { outcome: 'placed', seconds: 0 },
        { outcome: 'answered', seconds },
      ],
    )
  }
})

test('pressing 0 in a call opts out', async () => {
  const { context, provider, enrolCandidates } = await setUp()
  const partner = await enrolCandidates({ channels: ['voice'] })
  await contactNow(context)
  const path = new URL(provider.received[0]!.body.Url).pathname.split('/').slice(4).join('/')
  const firstTurn = await partner.twilio(path, { CallSid: 'CA1', CallStatus: 'in-progress' })
  const action = /action="([^"]+)"/.exec(firstTurn.body)![1]!.split('/').slice(6).join('/')
  assert.match(
    (await partner.twilio(action, { CallSid: 'CA1', Digits: '0' })).body,
    /not get any more messages.*<Hangup/,
  )
  assert.equal((await partner.result()).reason, 'stopped')
})

test('a call ends after repeated replies that are not understood', async () => {
  const { context, provider, enrolCandidates } = await setUp()
  const partner = await enrolCandidates({ channels: ['voice'] })
  await contactNow(context)
  let path = pathAfterChannel(provider.received[0]!.body.Url)
  let twiml = (await partner.twilio(path, { CallSid: 'CA1', CallStatus: 'in-progress' })).body
  for (let miss = 1; miss <= 3; miss++) {
    path = pathAfterChannel(/action="([^"]+)"/.exec(twiml)![1]!)
    twiml = (await partner.twilio(path, { CallSid: 'CA1', SpeechResult: 'umm' })).body
    assert.match(twiml, /did not understand.*<Gather/)
  }
  path = pathAfterChannel(/action="([^"]+)"/.exec(twiml)![1]!)
  twiml = (await partner.twilio(path, { CallSid: 'CA1', SpeechResult: 'umm' })).body
  assert.match(twiml, /<Response><Say[^>]*>Thank you. Goodbye.<\/Say><Hangup\/><\/Response>/)
  assert.equal((await partner.candidate()).status, 'pending')
})

test('nobody in India gets a call from a foreign number or an SMS through Twilio', async () => {
  const { context, clock, provider, enrolCandidates } = await setUp()
  const { db, vault } = context
  const settings = { ...TWILIO, from: '+14155550100', base_url: provider.url, per_second: 100 }
  const refusals = {
    sms: /^SMS to India through Twilio are refused/,
    voice: /^Calls to India from (\+14155550100|…) are refused/,
  }
  for (const channel of ['sms', 'voice'] as const) {
    const partner = await enrolCandidates({ channels: ['whatsapp'] })
    await db.transaction((tx) => saveCredentials(tx, vault, clock, partner.orgId, channel, settings))
    const enrol = async (channels: ChannelName[], phones: string[]) => {
      const { mandate_id } = await partner.createMandate({ channels })
      const candidates = phones.map((phone, index) => aCandidate(index, { phone }))
      return partner.post('/campaigns', { mandate_id, candidates }, { idempotencyKey: true })
    }
    const response = await enrol([channel], ['+919812345678', '+919812345679'])
    assert.equal(response.status, 409)
    const [, reason] = /^This campaign can reach nobody\. (?:sms|voice): (.*)$/.exec(response.body.error.message)!
    assert.match(reason!, refusals[channel])
    assert.match(reason!, /Set up Exotel/)
    assert.equal((await enrol([channel], ['+919812345678', '+14155550123'])).status, 202)

    const withNextChannel = await enrol([channel, 'whatsapp'], ['+919812345679'])
    const { campaign_id } = withNextChannel.body.data.campaign
    for (let round = 0; round < 2; round++) await contactNow(context)
    const { rows } = await sql<{ channel: string; state: string; error: string | null }>`
      select m.channel, m.state, m.error from messages m where m.campaign_id = ${campaign_id} order by m.message_id`.execute(
      db.queries,
    )
    assert.deepEqual(
      rows.map(({ channel, state }) => [channel, state]),
      [
        [channel, 'failed'],
        ['whatsapp', 'sent'],
      ],
    )
    assert.match(rows[0]!.error!, refusals[channel])
    assert.equal(reasonOfFailure(channel, rows[0]!.error!), 'country')
    assert.deepEqual(
      provider.requestsOfKind(channel === 'sms' ? 'Messages' : 'Calls').map(({ body }) => body.To),
      ['+14155550123'],
    )
  }
})

test('a campaign whose candidates are all outside India is rejected if its provider is Exotel', async () => {
  const { enrolCandidates } = await setUp()
  const partner = await enrolCandidates({ channels: ['sms'] }, 1, EXOTEL)
  const { mandate_id } = await partner.createMandate({ channels: ['sms'] })
  const body = { mandate_id, candidates: [aCandidate(1, { phone: '+14155550123' })] }
  const response = await partner.post('/campaigns', body, { idempotencyKey: true })
  assert.equal(response.status, 409)
  assert.equal(
    response.body.error.message,
    'This campaign can reach nobody. sms: Exotel sends SMS to Indian numbers only. Set up Twilio for other countries.',
  )
})

test('a code is sent by WhatsApp if the SMS provider cannot reach the country', async () => {
  const { app, context, provider, enrolCandidates, textMessage } = await setUp()
  const { db, vault, clock } = context
  const partner = await enrolCandidates({ channels: ['whatsapp'] })
  await db.transaction((tx) =>
    saveCredentials(tx, vault, clock, partner.orgId, 'sms', { ...TWILIO, from: '+14155550100' }),
  )
  await contactNow(context)
  const calls = yourDataCalls(app, 'candidate', (await readLink(app, partner.candidateId)).split('/').at(-1)!)
  assert.equal((await calls.start('export', 'phone')).status, 403)
  await partner.whatsapp({ messages: [textMessage(partner.phone, 'Yes')] })
  assert.equal((await calls.start('export', 'phone')).status, 200)
  await contactNow(context)
  // The next question of the conversation is sent at the same time, in any order.
  const hasCode = ({ body }: { body: unknown }) => /\b\d{6}\b/.test(JSON.stringify(body))
  assert.equal(provider.requestsOfKind('messages').filter(hasCode).length, 1)
})

test('after an unanswered call, the next channel or the next follow-up is used', async () => {
  const { context, clock, provider, changes, enrolCandidates } = await setUp()
  for (const channels of [['voice', 'sms'], ['voice']] as ChannelName[][]) {
    const partner = await enrolCandidates({ channels, follow_ups: [{ after_hours: 2, channel: 'voice' }] })
    await contactNow(context)
    const path = new URL(provider.received[0]!.body.StatusCallback).pathname.split('/').slice(4).join('/')
    for (let delivery = 0; delivery < 2; delivery++)
      await partner.twilio(path, { CallSid: provider.received[0]!.id, CallStatus: 'no-answer', CallDuration: '0' })
    await contactNow(context)
    assert.equal(provider.received.length, channels.length)
    assert.equal((await partner.candidate()).status, 'pending')
    assert.deepEqual(
      changes.flatMap((change) => change.calls.map(({ outcome }) => outcome)),
      ['placed', 'no_answer'],
    )
    clock.advance(2 * HOUR)
    await contactNow(context)
    assert.equal(provider.requestsOfKind('Calls').length, 2)
    const secondPath = new URL(provider.requestsOfKind('Calls')[1]!.body.StatusCallback).pathname
      .split('/')
      .slice(4)
      .join('/')
    await partner.twilio(secondPath, { CallSid: provider.requestsOfKind('Calls')[1]!.id, CallStatus: 'failed' })
    assert.equal(
      (await partner.candidate()).status,
      'pending',
      'the first call rang, so the candidate is not unreachable',
    )
  }
  const unreachablePartner = await enrolCandidates({ channels: ['voice'] })
  await contactNow(context)
  const path = new URL(provider.received[0]!.body.StatusCallback).pathname.split('/').slice(4).join('/')
  await unreachablePartner.twilio(path, { CallSid: provider.received[0]!.id, CallStatus: 'failed' })
  const { status, reason } = await unreachablePartner.result()
  assert.deepEqual([status, reason], ['failed', 'unreachable'])
  assert.equal((await unreachablePartner.get('/credits')).body.data.balance, 1000, 'refunded')
})

test('a LIVE campaign without credentials for any of its channels is rejected, with the channels listed', async () => {
  const { enrolCandidates } = await setUp()
  const partner = await enrolCandidates({ channels: ['whatsapp'] })
  const mandate = await partner.createMandate({ channels: ['voice', 'sms'] })
  const body = { mandate_id: mandate.mandate_id, candidates: [aCandidate(1)] }
  const response = await partner.post('/campaigns', body, { idempotencyKey: true })
  assert.equal(response.status, 409)
  assert.match(response.body.error.message, /voice, sms/)
})
