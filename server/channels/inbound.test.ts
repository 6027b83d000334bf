import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { test } from 'node:test'
import { sql } from 'kysely'
import PostalMime from 'postal-mime'
import { startApp } from '../../test/support/app.ts'
import { aCandidate, campaigner } from '../../test/support/campaigns.ts'
import {
  cloudError,
  cloudWebhook,
  type Received,
  startProvider,
  TWILIO,
  twilioCall,
  twilioError,
  WHATSAPP,
} from '../../test/support/provider.ts'
import { startSmtp } from '../../test/support/smtp.ts'
import { findCandidacy } from '../campaigns/candidacy.ts'
import { contactNow } from '../campaigns/contact/engine.ts'
import { listMessages } from '../campaigns/contact/messages.ts'
import { type CandidateChange, onCandidateChange } from '../campaigns/progress.ts'
import { HOUR, MINUTE, SECOND } from '../platform/clock.ts'
import type { WorkflowInput } from '../workflows/schema.ts'
import { openChannels } from './adapters.ts'
import type { ChannelName } from './channel.ts'
import { removeCredentials, saveCredentials } from './credentials.ts'
import '../results/events.ts'

test('nothing is read from a caller who names no channel or brings no signature', { timeout: 10_000 }, async (t) => {
  const { url, context, given } = await startApp(t)
  const { orgId } = await given.org()
  const channelId = await context.db.transaction((tx) =>
    saveCredentials(tx, context.vault, context.clock, orgId, 'whatsapp', {
      ...WHATSAPP,
      base_url: 'http://127.0.0.1:9',
    }),
  )
  for (const [id, status] of [
    ['CH_00000000000000000000000000', 404],
    [channelId, 403],
  ] as const) {
    const headers = { 'content-type': 'application/json', 'content-length': 3_000_000 }
    const call = request(`${url}/hooks/whatsapp/${id}`, { method: 'POST', headers })
    call.flushHeaders() // and not a byte of the body
    const [answer] = (await once(call, 'response')) as [IncomingMessage]
    assert.equal(answer.statusCode, status)
    call.destroy()
  }
})

test('conversations over real channels', async (t) => {
  const app = await startApp(t)
  const { context, clock, url } = app
  const { db, vault } = context
  const provider = await startProvider(t)
  const channels = openChannels(context)
  const changes: CandidateChange[] = []
  t.after(onCandidateChange(async (_tx, told) => void changes.push(...told)))

  const smtp = await startSmtp()
  t.after(() => channels.stop().then(smtp.stop))
  const settings: Record<ChannelName, object> = {
    email: { smtp_url: smtp.url, from: 'Metro <jobs@metro.example>' },
    whatsapp: { ...WHATSAPP, base_url: provider.url },
    sms: { ...TWILIO, from: '+14155550100', base_url: provider.url },
    voice: { ...TWILIO, from: '+14155550100', base_url: provider.url, per_second: 100 },
  }
  let people = 100

  /** Somebody enrolled at noon by an organisation of its own with these channels, and contacted. */
  async function enrolled(
    workflow: Partial<WorkflowInput> & { channels: ChannelName[] },
    count = 1,
    more: object = {},
  ) {
    clock.set('2026-03-11T06:30:00.000Z')
    // Nothing more is due for those before.
    await sql`delete from contacts`.execute(db.queries)
    await sql`update messages set state = 'dropped' where state = 'queued'`.execute(db.queries)
    provider.received.length = 0
    provider.script.length = 0
    changes.length = 0
    const partner = await campaigner(app, { mode: 'live' })
    const ids = new Map<ChannelName, string>()
    await db.transaction(async (tx) => {
      await removeCredentials(tx, partner.orgId, 'whatsapp')
      for (const channel of workflow.channels) {
        const set = { ...settings[channel], ...more }
        ids.set(channel, await saveCredentials(tx, vault, clock, partner.orgId, channel, set))
      }
    })
    const mandate = await partner.mandate(workflow)
    const candidates = Array.from({ length: count }, () => aCandidate(people++, { email: `p${people}@example.com` }))
    const { campaign } = await partner.campaign(mandate.mandate_id, candidates)
    const { rows } = await sql<{ candidate_id: string }>`
      select candidate_id from candidates where campaign_id = ${campaign.campaign_id} order by phone`.execute(
      db.queries,
    )
    const candidateId = rows[0]!.candidate_id
    const phone = candidates[0]!.phone
    return {
      ...partner,
      candidateId,
      phone,
      ids,
      messages: () => listMessages(db.queries, candidateId),
      candidate: async () => (await findCandidacy(db.queries, candidateId))!,
      async result() {
        const { body } = await partner.get(`/results?campaign_id=${campaign.campaign_id}`)
        return body.data.items[0]
      },
      whatsapp: (value: Parameters<typeof cloudWebhook>[0], secret?: string) =>
        app.fetch(`/hooks/whatsapp/${ids.get('whatsapp')}`, cloudWebhook(value, secret)),
      /** Calls an address of ours as Twilio would. */
      twilio(path: string, fields: Record<string, string>, token?: string) {
        const channel = path.startsWith('sms') || fields.MessageStatus ? 'sms' : 'voice'
        const target = `/hooks/twilio/${ids.get(channel)}/${path}`
        return app.fetch(target, twilioCall(url + target, fields, token))
      },
    }
  }

  let wamid = 1000
  const from = (phone: string) => phone.slice(1)
  const texted = (phone: string, body: string, more: object = {}) => {
    return { from: from(phone), id: `wamid.in${wamid++}`, timestamp: '1', type: 'text', text: { body }, ...more }
  }
  const reported = ({ id, body }: Received, status: string, more: object = {}) => {
    return {
      id,
      status,
      timestamp: '1',
      recipient_id: body.to,
      biz_opaque_callback_data: body.biz_opaque_callback_data,
      ...more,
    }
  }

  await t.test('WhatsApp from the first template to the result, every webhook twice', async () => {
    const one = await enrolled({ channels: ['whatsapp'], languages: ['en', 'hi'] })
    const { phone } = one
    await contactNow(context)
    assert.equal(provider.received.length, 1)
    const [first] = provider.received
    assert.equal(first!.body.type, 'template')

    // In no good order, and repeatedly.
    for (const status of ['read', 'sent', 'delivered', 'read', 'failed'])
      assert.equal((await one.whatsapp({ statuses: [reported(first!, status)] })).status, 200)
    assert.equal((await one.messages())[0]!.state, 'read')
    assert.deepEqual(
      changes.flatMap((change) => change.channels.map(({ what }) => what)),
      ['sent', 'delivered', 'read'],
    )

    const payload = first!.body.template.components[1].parameters[0].payload
    let said: object = {
      from: from(phone),
      id: 'wamid.first',
      type: 'button',
      button: { payload, text: 'Yes' },
      context: { id: first!.id },
    }
    for (let turn = 0; turn < 30; turn++) {
      for (let again = 0; again < 2; again++) assert.equal((await one.whatsapp({ messages: [said] })).status, 200)
      await contactNow(context)
      assert.equal(provider.received.length, turn + 2, 'one answer to each reply')
      const { state, flow, status } = await one.candidate()
      if (status !== 'pending') break
      const { body, id } = provider.received.at(-1)!
      assert.ok(JSON.stringify(body).includes(`${url}/c/`), 'with the link')
      const right =
        state.point.at === 'skills' ? String(flow.skills[state.point.skill]!.items[state.point.item]!.key) : 'yes'
      const { action, type } = body.interactive ?? {}
      const options =
        type === 'list'
          ? action.sections[0].rows
          : type === 'button'
            ? action.buttons.map(({ reply }: any) => reply)
            : []
      const choice =
        state.point.at === 'language'
          ? options.find((option: any) => option.id.endsWith(':hi'))
          : options.find((option: any) => option.id === `${state.step}:${right}`)
      said = choice
        ? {
            from: from(phone),
            id: `wamid.in${wamid++}`,
            type: 'interactive',
            interactive: { type: `${type}_reply`, [`${type}_reply`]: choice },
            context: { id },
          }
        : texted(phone, 'In two weeks\0')
    }
    const result = await one.result()
    assert.equal(result.status, 'completed')
    assert.equal(result.output.qualified, true)
    assert.equal(result.output.interest, 'interested')
    assert.equal(result.output.language, 'hi')
    assert.equal(result.output.channel, 'whatsapp')
    assert.equal(result.output.enrichment.notice.answer, 'In two weeks')
  })

  await t.test('forged, foreign and unknown webhooks change nothing', async () => {
    const one = await enrolled({ channels: ['whatsapp', 'sms'] })
    await contactNow(context)
    const [first] = provider.received
    const hello = { messages: [texted(one.phone, 'yes')] }
    assert.equal((await one.whatsapp(hello, 'another-secret')).status, 403)
    const sound = cloudWebhook(hello)
    const path = `/hooks/whatsapp/${one.ids.get('whatsapp')}`
    assert.equal((await app.fetch(path, { ...sound, body: `${sound.body} ` })).status, 403, 'not the bytes signed')
    assert.equal((await app.fetch(path, { ...sound, headers: {} })).status, 403)
    assert.equal((await app.fetch(`/hooks/whatsapp/${one.ids.get('sms')}`, sound)).status, 404)
    assert.equal((await app.fetch('/hooks/whatsapp/CH_00000000000000000000000000', sound)).status, 404)
    assert.equal(
      (await one.twilio('sms', { From: one.phone, MessageSid: 'SM1', Body: '1' }, 'wrong-token')).status,
      403,
    )
    assert.equal((await app.fetch(path, { ...sound, body: 'x'.repeat(3_200_000) })).status, 413)

    const stranger = await enrolled({ channels: ['whatsapp'] })
    assert.equal((await stranger.whatsapp({ statuses: [reported(first!, 'failed')] })).status, 200)
    assert.equal((await stranger.whatsapp({ messages: [texted(one.phone, 'STOP')] })).status, 200)
    assert.equal((await one.whatsapp({ statuses: [{ id: 'wamid.unknown', status: 'failed' }] })).status, 200)
    assert.equal((await one.whatsapp({ messages: [texted('+911111111111', 'hello')] })).status, 200)
    assert.equal(
      (await one.whatsapp({ messages: [{ from: 'x', id: 1, type: {} } as object, null as any] })).status,
      200,
    )
    assert.equal((await one.whatsapp({ messages: [texted(one.phone, 'yes', { id: 'wamid.\0' })] })).status, 200)
    assert.equal((await one.whatsapp({ statuses: [{ id: '\0', status: 'read' }] })).status, 200)
    const odd = [{ from: from(one.phone), id: 'wamid.r', type: 'reaction', reaction: { emoji: '👍' } }]
    assert.equal((await one.whatsapp({ messages: odd })).status, 200)
    const { status, state } = await one.candidate()
    assert.deepEqual([status, state.step, (await one.messages()).length], ['pending', 1, 1])
    assert.equal((await one.messages())[0]!.state, 'sent')
  })

  await t.test('the challenge is answered to whoever knows the token', async () => {
    const { ids } = await enrolled({ channels: ['whatsapp'] })
    const ask = (token: string, challenge = '1158201444') =>
      app.fetch(
        `/hooks/whatsapp/${ids.get('whatsapp')}?${new URLSearchParams({ 'hub.mode': 'subscribe', 'hub.challenge': challenge, 'hub.verify_token': token })}`,
      )
    const right = await ask(WHATSAPP.verify_token)
    assert.deepEqual([right.status, String(right.body)], [200, '1158201444'])
    assert.match(right.headers.get('content-type')!, /^text\/plain/)
    assert.equal((await ask('guessed-token')).status, 403)
    assert.equal((await ask(WHATSAPP.verify_token, '<script>')).status, 403)
  })

  await t.test('a person whom WhatsApp does not reach gets a text message, now or when that is reported', async () => {
    for (const late of [false, true]) {
      const one = await enrolled({ channels: ['whatsapp', 'sms'] })
      if (!late) provider.script.push(cloudError(400, 131026))
      await contactNow(context)
      if (late) {
        assert.equal(provider.of('Messages').length, 0)
        const report = reported(provider.received[0]!, 'failed', { errors: [{ code: 131026, title: 'Undeliverable' }] })
        for (let again = 0; again < 2; again++) await one.whatsapp({ statuses: [report] })
      }
      await contactNow(context)
      await contactNow(context)
      const [sms] = provider.of('Messages')
      assert.equal(provider.received.length, 2)
      assert.equal(sms!.body.To, one.phone)
      assert.match(sms!.body.Body, /\/c\/[\w-]{43}$/)
      assert.deepEqual(
        changes.flatMap((change) => change.channels.map(({ channel, what }) => `${channel} ${what}`)),
        late ? ['whatsapp sent', 'whatsapp failed', 'sms sent'] : ['whatsapp failed', 'sms sent'],
      )
      const path = new URL(sms!.body.StatusCallback).pathname.split('/').slice(4).join('/')
      for (const MessageStatus of ['delivered', 'sent', 'delivered'])
        assert.equal((await one.twilio(path, { MessageSid: sms!.id, MessageStatus })).status, 200)
      assert.equal((await one.messages())[1]!.state, 'delivered')

      const heard = await one.twilio('sms', { From: one.phone, MessageSid: 'SMin1', Body: ' 1 ' })
      assert.match(String(heard.body), /<Response><\/Response>/)
      await one.twilio('sms', { From: one.phone, MessageSid: 'SMin1', Body: ' 1 ' })
      await contactNow(context)
      assert.match(provider.received[2]!.body.Body, /wireman licence\?\n\n1\. Yes\n2\. No/)
      await one.twilio('sms', { From: one.phone, MessageSid: 'SMin2', Body: 'Yes' })
      await contactNow(context)
      assert.match(provider.received[3]!.body.Body, /When can you start/)
      await one.twilio('sms', { From: one.phone, MessageSid: 'SMin3', Body: 'skip' })
      await contactNow(context)
      assert.equal((await one.candidate()).state.point.at, 'skills')
      // STOP holds at once, on every channel.
      await one.twilio('sms', { From: one.phone, MessageSid: 'SMin4', Body: 'arrete', OptOutType: 'STOP' })
      const { status, reason } = await one.result()
      assert.deepEqual([status, reason], ['declined', 'stopped'])
    }
  })

  await t.test('who has told the provider STOP is left alone on every channel', async () => {
    for (const late of [false, true]) {
      const one = await enrolled({ channels: ['sms', 'whatsapp'] })
      if (!late) provider.script.push(twilioError(400, 21610))
      await contactNow(context)
      if (late) {
        const { id, body } = provider.received[0]!
        const path = new URL(body.StatusCallback).pathname.split('/').slice(4).join('/')
        await one.twilio(path, { MessageSid: id, MessageStatus: 'undelivered', ErrorCode: '21610' })
      }
      await contactNow(context)
      assert.equal(provider.received.length, 1)
      const { status, reason } = await one.result()
      assert.deepEqual([status, reason], ['declined', 'stopped'])
    }
  })

  await t.test('reports may come before the provider’s answer, and after it was never heard', async () => {
    const one = await enrolled({
      channels: ['whatsapp', 'sms'],
      follow_ups: [{ after_hours: 24, channel: 'whatsapp' }],
    })
    provider.script.push(async (received) => {
      await one.whatsapp({ statuses: [reported(received, 'delivered')] })
    })
    await contactNow(context)
    assert.equal((await one.messages())[0]!.state, 'delivered')
    assert.deepEqual(
      changes.flatMap((change) => change.channels.map(({ what }) => what)),
      ['sent', 'delivered'],
    )
    clock.advance(24 * HOUR)
    provider.script.push('reset')
    await contactNow(context)
    assert.equal(provider.received.length, 2, 'the follow-up')
    assert.equal((await one.messages())[1]!.state, 'unknown')
    clock.advance(HOUR)
    await contactNow(context)
    assert.equal(provider.received.length, 2, 'not repeated')
    await one.whatsapp({ statuses: [reported(provider.received[1]!, 'delivered')] })
    assert.equal((await one.messages())[1]!.state, 'delivered')
    assert.equal((await one.candidate()).contact_step, 1)

    // One whose fate was unknown turns out to have failed: the next channel.
    const other = await enrolled({ channels: ['whatsapp', 'sms'] })
    provider.script.push('reset')
    await contactNow(context)
    await other.whatsapp({ statuses: [reported(provider.received[0]!, 'failed')] })
    await contactNow(context)
    assert.equal(provider.of('Messages').length, 1)
  })

  await t.test('a mail brings people to their page, where the conversation stays', async () => {
    const one = await enrolled({ channels: ['email'] })
    await contactNow(context)
    assert.equal(smtp.received.length, 1)
    const { text } = await PostalMime.parse(smtp.received[0]!)
    const token = new RegExp(`${url}/c/([\\w-]{43})`).exec(text!)![1]
    const answered = await app.fetch(`/api/v1/candidate/${token}/reply`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ step: 1, value: 'yes', client_id: 'a' }),
    })
    assert.equal(answered.body.data.step, 2)
    await contactNow(context)
    assert.equal(smtp.received.length, 1)
    assert.equal((await one.candidate()).channel, 'email')
  })

  await t.test('quiet hours hold for contact, not for answers', async () => {
    const one = await enrolled({ channels: ['whatsapp'], follow_ups: [{ after_hours: 9, channel: 'whatsapp' }] })
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
    await one.whatsapp({ messages: [texted(one.phone, 'haan')] })
    await contactNow(context)
    assert.equal(provider.received.length, 3, 'who writes at night is answered')
  })

  await t.test('no faster than the provider allows, and later when it asks for it', async () => {
    await enrolled({ channels: ['sms'] }, 4, { per_second: 2 })
    const counts: number[] = []
    for (let step = 0; step < 4; step++) {
      await contactNow(context)
      counts.push(provider.received.length)
      clock.advance(SECOND / 2)
    }
    assert.deepEqual(counts, [2, 3, 4, 4])

    const one = await enrolled({ channels: ['whatsapp'] })
    provider.script.push({ ...cloudError(429, 130429), headers: { 'retry-after': '90' } })
    await contactNow(context)
    clock.advance(80 * SECOND)
    await contactNow(context)
    assert.equal(provider.received.length, 1)
    clock.advance(MINUTE)
    await contactNow(context)
    await contactNow(context)
    assert.equal(provider.received.length, 2)
    assert.equal((await one.messages())[0]!.state, 'sent')
  })

  await t.test('a call asks by voice and hears keys and words', async () => {
    const one = await enrolled({ channels: ['voice'], languages: ['en', 'hi', 'or'] })
    await contactNow(context)
    const [call] = provider.of('Calls')
    assert.equal(call!.body.To, one.phone)
    const pathOf = (address: string) => address.split('/').slice(6).join('/')
    const CallSid = call!.id
    const ask = async (address: string, fields: object = {}) => {
      const { status, body, headers } = await one.twilio(pathOf(address), {
        CallSid,
        CallStatus: 'in-progress',
        ...fields,
      } as Record<string, string>)
      assert.equal(status, 200)
      assert.match(headers.get('content-type')!, /^text\/xml/)
      const action = /action="([^"]+)"/.exec(body)?.[1] ?? ''
      return { twiml: body as string, action }
    }
    let turn = await ask(call!.body.Url)
    assert.match(turn.twiml, /automatic call for Metro Ltd/)
    assert.match(
      turn.twiml,
      /<Gather input="dtmf speech" language="en-IN".*press 1.*press 2.*<\/Gather><Gather.*<Say[^>]*>Thank you. Goodbye.<\/Say><Hangup\/>/,
    )
    assert.equal(turn.twiml.split('<Gather').length, 3, 'silence repeats the question once')
    const consent = turn.action
    turn = await ask(consent, { Digits: '7' })
    assert.match(turn.twiml, /did not understand/)
    turn = await ask(turn.action, { Digits: '9' })
    assert.match(turn.twiml, /May we ask you/)
    turn = await ask(turn.action, { SpeechResult: 'Yes.', Confidence: '0.9' })
    assert.match(turn.twiml, /Which language/)
    assert.ok(!turn.twiml.includes('ଓଡ଼ିଆ'), 'a language that has no voice is not offered')
    const languages = turn.action
    turn = await ask(languages, { Digits: '2' })
    assert.match(turn.twiml, /language="hi-IN"/)
    const step = (await one.candidate()).state.step
    turn = await ask(languages, { Digits: '2' })
    assert.equal((await one.candidate()).state.step, step, 'the same answer again')
    turn = await ask(turn.action, { Digits: '1' })
    turn = await ask(turn.action, { SpeechResult: 'दो हफ़्ते में & <जल्दी>' })
    for (let count = 0; count < 20; count++) {
      const { state, flow } = await one.candidate()
      if (state.point.at !== 'skills') break
      const { key } = flow.skills[state.point.skill]!.items[state.point.item]!
      turn = await ask(turn.action, { Digits: String(key + 1) })
    }
    turn = await ask(turn.action, { Digits: '1' })
    assert.ok(!turn.twiml.includes('<Gather'))
    assert.match(turn.twiml, /<Hangup\/>/)
    const status = { CallSid, CallStatus: 'completed', CallDuration: '184' }
    for (let again = 0; again < 2; again++) await one.twilio(pathOf(call!.body.StatusCallback), status)
    assert.deepEqual(
      changes.flatMap((change) => change.calls),
      [
        { outcome: 'placed', seconds: 0 },
        { outcome: 'answered', seconds: 184 },
      ],
    )
    await contactNow(context)
    assert.equal(provider.received.length, 1, 'nothing but the one call')
    const result = await one.result()
    assert.deepEqual([result.status, result.output.qualified, result.output.channel], ['completed', true, 'voice'])
    assert.equal(result.output.enrichment.notice.answer, 'दो हफ़्ते में & <जल्दी>')
    assert.match((await ask(consent, { Digits: '1' })).twiml, /<Hangup\/>/, 'after the end it only says goodbye')
    const elsewhere = call!.body.Url.replace(/MS_\w+$/, 'MS_00000000000000000000000000')
    assert.ok(!(await ask(elsewhere)).twiml.includes('<Say'), 'no such call')
  })

  await t.test('0 ends a call for good', async () => {
    const one = await enrolled({ channels: ['voice'] })
    await contactNow(context)
    const path = new URL(provider.received[0]!.body.Url).pathname.split('/').slice(4).join('/')
    const begun = await one.twilio(path, { CallSid: 'CA1', CallStatus: 'in-progress' })
    const action = /action="([^"]+)"/.exec(begun.body)![1]!.split('/').slice(6).join('/')
    assert.match((await one.twilio(action, { CallSid: 'CA1', Digits: '0' })).body, /no more messages.*<Hangup/)
    assert.equal((await one.result()).reason, 'stopped')
  })

  await t.test('a call with somebody who cannot be understood ends with a goodbye', async () => {
    const one = await enrolled({ channels: ['voice'] })
    await contactNow(context)
    const pathOf = (address: string) => address.split('/').slice(6).join('/')
    let path = pathOf(provider.received[0]!.body.Url)
    let twiml = (await one.twilio(path, { CallSid: 'CA1', CallStatus: 'in-progress' })).body
    for (let miss = 1; miss <= 3; miss++) {
      path = pathOf(/action="([^"]+)"/.exec(twiml)![1]!)
      twiml = (await one.twilio(path, { CallSid: 'CA1', SpeechResult: 'umm' })).body
      assert.match(twiml, /did not understand.*<Gather/)
    }
    path = pathOf(/action="([^"]+)"/.exec(twiml)![1]!)
    twiml = (await one.twilio(path, { CallSid: 'CA1', SpeechResult: 'umm' })).body
    assert.match(twiml, /<Response><Say[^>]*>Thank you. Goodbye.<\/Say><Hangup\/><\/Response>/)
    assert.equal((await one.candidate()).status, 'pending')
  })

  await t.test('a call that nobody takes goes on to the next channel, or waits for the next time', async () => {
    for (const channels of [['voice', 'sms'], ['voice']] as ChannelName[][]) {
      const one = await enrolled({ channels, follow_ups: [{ after_hours: 2, channel: 'voice' }] })
      await contactNow(context)
      const path = new URL(provider.received[0]!.body.StatusCallback).pathname.split('/').slice(4).join('/')
      for (let again = 0; again < 2; again++)
        await one.twilio(path, { CallSid: provider.received[0]!.id, CallStatus: 'no-answer', CallDuration: '0' })
      await contactNow(context)
      assert.equal(provider.received.length, channels.length)
      assert.equal((await one.candidate()).status, 'pending')
      assert.deepEqual(
        changes.flatMap((change) => change.calls.map(({ outcome }) => outcome)),
        ['placed', 'no_answer'],
      )
      clock.advance(2 * HOUR)
      await contactNow(context)
      assert.equal(provider.of('Calls').length, 2)
      const again = new URL(provider.of('Calls')[1]!.body.StatusCallback).pathname.split('/').slice(4).join('/')
      await one.twilio(again, { CallSid: provider.of('Calls')[1]!.id, CallStatus: 'failed' })
      assert.equal((await one.candidate()).status, 'pending', 'the phone rang once, so the person is not unreachable')
    }
    const lost = await enrolled({ channels: ['voice'] })
    await contactNow(context)
    const path = new URL(provider.received[0]!.body.StatusCallback).pathname.split('/').slice(4).join('/')
    await lost.twilio(path, { CallSid: provider.received[0]!.id, CallStatus: 'failed' })
    const { status, reason } = await lost.result()
    assert.deepEqual([status, reason], ['failed', 'unreachable'])
    assert.equal((await lost.get('/credits')).body.data.balance, 1000, 'refunded')
  })

  await t.test('without credentials for any of its channels a LIVE campaign is refused, naming them', async () => {
    const one = await enrolled({ channels: ['whatsapp'] })
    const mandate = await one.mandate({ channels: ['voice', 'sms'] })
    const body = { mandate_id: mandate.mandate_id, candidates: [aCandidate(1)] }
    const refused = await one.post('/campaigns', body, { idempotencyKey: true })
    assert.equal(refused.status, 409)
    assert.match(refused.body.error.message, /voice, sms/)
  })
})
