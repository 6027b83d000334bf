import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startApp } from '../../../test/support/app.ts'
import { keyIndex } from '../../../test/support/candidate.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { signInMember } from '../../../test/support/console.ts'
import { exotelCall } from '../../../test/support/exotel-call.ts'
import { aCandidate, createCampaignPartner } from '../../../test/support/partners.ts'
import { EXOTEL, EXOTEL_VOICE, startProvider } from '../../../test/support/provider.ts'
import { switchService } from '../../access/service-switch.ts'
import { findCandidacy } from '../../campaigns/candidacy.ts'
import { contactNow } from '../../campaigns/contact/engine.ts'
import { listMessages } from '../../campaigns/contact/messages.ts'
import { fetchCost } from '../../campaigns/spending/message-cost.ts'
import type { MandateInput } from '../../mandates/schema.ts'
import { HOUR } from '../../platform/clock.ts'
import type { WorkflowInput } from '../../workflows/schema.ts'
import { saveCredentials } from '../credentials.ts'

const setUp = oncePerFile(async (t) => {
  const app = await startApp(t)
  const { context, clock } = app
  const { db, vault } = context
  const provider = await startProvider(t)
  let nextPerson = 100

  /** Enrols a candidate at noon in a new organisation that calls through Exotel and sends SMS through Exotel. */
  async function enrolCandidate(
    workflow: Partial<WorkflowInput> = {},
    { mandate = {}, voice = {} }: { mandate?: Partial<MandateInput>; voice?: object } = {},
  ) {
    clock.set('2026-03-11T06:30:00.000Z')
    await sql`delete from contacts`.execute(db.queries)
    await sql`update messages set state = 'dropped' where state = 'queued'`.execute(db.queries)
    provider.received.length = 0
    provider.nextBehaviours.length = 0
    const partner = await createCampaignPartner(app, { mode: 'live' })
    await db.transaction(async (tx) => {
      const settings = { ...EXOTEL_VOICE, base_url: provider.url, per_second: 100, ...voice }
      await saveCredentials(tx, vault, clock, partner.orgId, 'voice', settings)
      await saveCredentials(tx, vault, clock, partner.orgId, 'sms', { ...EXOTEL, base_url: provider.url })
    })
    const { mandate_id } = await partner.createMandate({ channels: ['voice'], languages: ['en'], ...workflow }, mandate)
    const { campaign } = await partner.createCampaign(mandate_id, [aCandidate(nextPerson++)])
    const { rows } = await sql<{ candidate_id: string }>`
      select candidate_id from candidates where campaign_id = ${campaign.campaign_id}`.execute(db.queries)
    const candidateId = rows[0]!.candidate_id
    const owner = await signInMember(app, partner.orgId, 'owner')
    const voiceChannel = async () =>
      (await owner.get(`/orgs/${partner.orgId}/channels`)).body.data.channels.find(
        ({ channel }: any) => channel === 'voice',
      )
    const flowUrls: string[] = (await voiceChannel()).webhooks
    return {
      ...partner,
      campaignId: campaign.campaign_id as string,
      voiceChannel,
      flowUrls,
      candidate: async () => (await findCandidacy(db.queries, candidateId))!,
      messages: () => listMessages(db.queries, candidateId),
      async result() {
        return (await partner.get(`/results?campaign_id=${campaign.campaign_id}`)).body.data.items[0]
      },
      /** Calls the candidate and returns the call. */
      async call() {
        await contactNow(context)
        return exotelCall(app, flowUrls, provider.requestsOfKind('Calls').at(-1)!)
      },
    }
  }
  return { app, context, clock, provider, enrolCandidate }
})

/** A mandate without open questions. */
const KEYPAD_MANDATE: Partial<MandateInput> = {
  enrichment_questions: [{ key: 'licence', type: 'yes_no', text: 'Do you hold a wireman licence?', knockout: 'no' }],
}

test('a call through Exotel asks its questions with keys, and repeated requests do not answer twice', async () => {
  const { context, provider, enrolCandidate } = await setUp()
  const languages = ['en', 'hi', 'or'] as const
  const partner = await enrolCandidate(
    { languages: [...languages] },
    { mandate: KEYPAD_MANDATE, voice: { languages: ['en', 'hi'] } },
  )
  const call = await partner.call()
  let turn = await call.gather()
  assert.match(turn.text, /automated call on behalf of Metro Ltd.*May we ask.*For yes, press 1.*press 0\.$/)
  assert.doesNotMatch(turn.repeatedText!, /automated call/, 'the greeting is not repeated')
  assert.deepEqual([turn.maxDigits, turn.isLast], [1, false])
  assert.deepEqual(await call.gather(), turn, 'a repeated request')

  assert.equal(await call.press('7'), true)
  assert.match((await call.gather()).text, /did not understand.*May we ask/)
  assert.equal(await call.press('9'), true)
  assert.doesNotMatch((await call.gather()).text, /did not understand/, 'pressing 9 repeats the question')
  const continues = await Promise.all([call.press('1'), call.press('1')])
  assert.deepEqual(continues, [true, true], 'two reports of the same keys at the same time')
  assert.equal((await partner.candidate()).state.point.at, 'language')
  assert.equal(await call.press('1'), true, 'a later repeated report')
  assert.equal((await partner.candidate()).state.point.at, 'language')

  turn = await call.gather()
  assert.match(turn.text, /Which language/)
  assert.ok(!turn.text.includes('ଓଡ଼ିଆ'), 'a language that the voice does not speak is not offered')
  await call.press('2')
  assert.equal((await partner.candidate()).state.language, 'hi')
  assert.match((await call.gather()).text, /दबाएँ/)
  await call.press('1')
  for (let count = 0; count < 20; count++) {
    const { state } = await partner.candidate()
    if (state.point.at !== 'skills') break
    assert.equal((await call.gather()).isLast, false)
    assert.equal(await call.press(String(keyIndex(state)! + 1)), true)
  }
  await call.gather()
  assert.equal(await call.press('1'), true, 'the answer to the last question')
  turn = await call.gather()
  assert.equal(turn.isLast, true)
  assert.match(turn.text, /धन्यवाद/)
  assert.equal(await call.press('1'), false, 'keys during the last words end the call')
  assert.equal((await call.report('completed', 184)).status, 200)

  const result = await partner.result()
  assert.deepEqual([result.status, result.output.qualified, result.output.channel], ['completed', true, 'voice'])
  assert.equal(provider.received.length, 1, 'only the one call')
  await contactNow(context)
  assert.equal(provider.received.length, 1)
})

test('a question that needs words is sent in writing, once, and the call ends', async () => {
  const { context, provider, enrolCandidate } = await setUp()
  const partner = await enrolCandidate({ channels: ['voice', 'sms'] })
  const call = await partner.call()
  for (const key of ['1', '1']) {
    await call.gather()
    assert.equal(await call.press(key), true)
  }
  for (let request = 0; request < 2; request++) {
    const turn = await call.gather()
    assert.equal(turn.isLast, true)
    assert.match(turn.text, /^Please answer the next question in writing\. We will send you a message with a link\./)
    assert.match(turn.text, /Goodbye\.$/)
  }
  assert.equal(await call.press('1'), false)
  await call.report('completed', 40)
  await contactNow(context)
  const [, sms, ...others] = provider.received
  assert.deepEqual([sms!.body.To, others], [(await partner.candidate()).phone, []])
  assert.match(sms!.body.Body, /is still waiting for your answers about the job.*\/c\//)
  assert.equal((await partner.candidate()).status, 'pending')

  const voiceOnly = await enrolCandidate()
  const secondCall = await voiceOnly.call()
  for (const key of ['1', '1']) {
    await secondCall.gather()
    await secondCall.press(key)
  }
  const turn = await secondCall.gather()
  assert.deepEqual([turn.isLast, turn.text], [true, 'Thank you. Goodbye.'], 'no other channel is in the workflow')
  assert.equal((await voiceOnly.messages()).filter(({ channel }) => channel !== 'voice').length, 0)
})

test('in a call through Exotel, 0 opts out, "not now" agrees another call, and keys without a meaning end it', async () => {
  const { context, clock, provider, enrolCandidate } = await setUp()
  const stopping = await enrolCandidate()
  const stoppedCall = await stopping.call()
  await stoppedCall.gather()
  await stoppedCall.press('0')
  assert.match((await stoppedCall.gather()).text, /not get any more messages/)
  assert.equal((await stopping.result()).reason, 'stopped')

  const postponing = await enrolCandidate()
  const postponedCall = await postponing.call()
  await postponedCall.gather()
  await postponedCall.press('3')
  assert.match((await postponedCall.gather()).text, /When may we contact you again\?/)
  await postponedCall.press('2')
  const turn = await postponedCall.gather()
  assert.match(turn.text, /contact you again tomorrow/)
  assert.equal(turn.isLast, true)
  await postponedCall.report('completed', 20)
  clock.advance(24 * HOUR)
  await contactNow(context)
  assert.equal(provider.requestsOfKind('Calls').length, 2)
  assert.match((await (await postponing.call()).gather()).text, /automated call.*May we ask/)

  const confused = await enrolCandidate()
  const confusedCall = await confused.call()
  for (let miss = 1; miss <= 3; miss++) {
    await confusedCall.gather()
    assert.equal(await confusedCall.press('8'), true)
  }
  await confusedCall.gather()
  assert.equal(await confusedCall.press('8'), false)
  assert.equal((await confused.candidate()).status, 'pending')
})

test('requests of the flow need the code of the channel, and unknown calls end', async () => {
  const { app, provider, enrolCandidate } = await setUp()
  const partner = await enrolCandidate()
  const other = await enrolCandidate()
  for (const [index, applet] of ['gather', 'passthru'].entries()) {
    const path = partner.flowUrls[index]!.replace(app.url, '')
    assert.match(path, new RegExp(`^/hooks/exotel/CH_\\w{26}/${applet}/[\\w-]{43}$`))
    const otherCode = other.flowUrls[index]!.split('/').at(-1)!
    for (const wrongPath of [`${path}x`, path.replace(/[^/]+$/, otherCode)])
      assert.equal((await app.fetch(wrongPath)).status, 403)
  }
  assert.equal((await partner.voiceChannel()).webhook_called_at, null)
  const call = await other.call()
  const unknownIds = ['', 'x', 'MS_00000000000000000000000000', `${'a'.repeat(70)}`]
  for (const CustomField of unknownIds) {
    const turn = await call.gather({ CustomField })
    assert.deepEqual([turn.text, turn.isLast], ['Thank you. Goodbye.', true])
    assert.equal(await call.press('1', { CustomField }), false)
  }
  await call.gather()
  assert.equal(await call.press('1', { CallSid: '' }), false)
  const { webhook_called_at, settings } = await other.voiceChannel()
  assert.ok(webhook_called_at)
  assert.deepEqual([settings.api_token, settings.app_id], ['(set)', '29281'])
  // A call of another organisation is unknown.
  const foreignCall = exotelCall(app, partner.flowUrls, provider.received.at(-1)!)
  assert.equal((await foreignCall.gather()).text, 'Thank you. Goodbye.')
})

test('the report about a call updates the message and its cost, and an unanswered call leads to the next channel', async () => {
  const { app, context, provider, enrolCandidate } = await setUp()
  const partner = await enrolCandidate()
  const call = await partner.call()
  const [message] = await partner.messages()
  const spending = async () => {
    const { spent, reported } = (await partner.get(`/campaigns/${partner.campaignId}/spending`)).body.data
    return [spent, reported]
  }
  const estimate = (await spending())[0]
  assert.ok(estimate > 0)
  const { body } = provider.received[0]!
  const wrongPath = `${body.StatusCallback.replace(app.url, '')}x`
  assert.equal((await app.fetch(wrongPath, { method: 'POST', body: '{}' })).status, 403)
  assert.equal((await call.report('in-progress')).status, 200)
  assert.equal((await call.report('completed', 10, { EventType: 'answered' })).status, 200)
  assert.equal((await partner.messages())[0]!.state, 'sent')
  for (let delivery = 0; delivery < 2; delivery++) await call.report('completed', 61)
  assert.equal((await partner.messages())[0]!.state, 'delivered')
  assert.deepEqual(await spending(), [9, 0], 'two minutes')
  await fetchCost(context, { message_id: message!.message_id, attempt: 0 })
  assert.equal(provider.received.at(-1)!.path, `/v1/Accounts/metro1/Calls/${provider.received[0]!.id}.json`)
  assert.deepEqual(await spending(), [1.25, 1.25])

  for (const status of ['busy', 'no-answer', 'failed', 'canceled']) {
    const unanswered = await enrolCandidate({ channels: ['voice', 'sms'] })
    const unansweredCall = await unanswered.call()
    for (let delivery = 0; delivery < 2; delivery++) await unansweredCall.report(status)
    await contactNow(context)
    assert.deepEqual(
      provider.received.map(({ path }) => path.split('/').at(-1)),
      ['connect.json', 'send.json'],
      status,
    )
  }
})

test('a caller ID of no Indian series is refused before a call, and calls wait for the hours', async () => {
  const { context, clock, provider, enrolCandidate } = await setUp()
  const refused = await enrolCandidate({ channels: ['voice', 'sms'] }, { voice: { from: '08012345678' } })
  const { findings } = await refused.voiceChannel()
  assert.deepEqual(
    findings.map(({ severity, problem }: any) => [severity, problem.slice(0, 150)]),
    [
      [
        'refused',
        'Calls to India from 08012345678 are refused, because of the numbering rules: promotional calls need a number that begins with 140, and service calls n',
      ],
      ['warning', 'Candidates in hi, bn, ta, te, mr, gu, kn, ml, pa, or, as are not called.'],
    ],
  )
  await contactNow(context)
  await contactNow(context)
  assert.deepEqual(
    provider.received.map(({ path }) => path.split('/').at(-1)),
    ['send.json'],
    'the next channel',
  )
  const mandate = await refused.createMandate({ channels: ['voice'] })
  const campaign = { mandate_id: mandate.mandate_id, candidates: [aCandidate(1)] }
  const response = await refused.post('/campaigns', campaign, { idempotencyKey: true })
  assert.equal(response.status, 409)
  assert.match(response.body.error.message, /can reach nobody.*Ask Exotel for a number of such a series/)

  await enrolCandidate()
  clock.set('2026-03-12T03:45:00.000Z') // 09:15 in India
  await contactNow(context)
  assert.equal(provider.received.length, 0)
  clock.set('2026-03-12T04:31:00.000Z')
  await contactNow(context)
  assert.equal(provider.received.length, 1)
})

test('a call through Exotel ends while the organisation is paused', async () => {
  const { context, enrolCandidate } = await setUp()
  const partner = await enrolCandidate()
  const call = await partner.call()
  await call.gather()
  await context.db.transaction((tx) => switchService(tx, context.clock, { orgId: partner.orgId, state: 'off' }))
  await context.keyring.refresh()
  assert.equal(await call.press('1'), true)
  const turn = await call.gather()
  assert.deepEqual(
    [turn.text, turn.isLast],
    ['This conversation is paused. We will let you know when it resumes. Thank you. Goodbye.', true],
  )
  assert.equal((await partner.candidate()).state.point.at, 'consent')
})
