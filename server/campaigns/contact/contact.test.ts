import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startApp } from '../../../test/support/app.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { runClock } from '../../../test/support/clock.ts'
import {
  aCandidate,
  aTestNumberCandidate,
  type CampaignPartner,
  createCampaignPartner,
} from '../../../test/support/partners.ts'
import { EXOTEL, EXOTEL_VOICE } from '../../../test/support/provider.ts'
import { until } from '../../../test/support/until.ts'
import {
  type ChannelName,
  channelNames,
  type OutgoingMessage,
  SendError,
  type SendErrorReason,
} from '../../channels/channel.ts'
import { saveCredentials } from '../../channels/credentials.ts'
import { HOUR, MINUTE, SECOND } from '../../platform/clock.ts'
import { lockCandidacy } from '../candidacy.ts'
import { type CandidateChange, candidatesChanged } from '../progress.ts'
import { nextContactTime, requestedContactTime } from './contact-hours.ts'
import { contactNow, startContactEngine } from './engine.ts'
import { handleReply } from './replies.ts'
import { claimSends } from './sends.ts'
import { handleDeliveryStatus } from './statuses.ts'

/** Messages that the fake providers accepted, and the errors they return. */
const sentMessages: (OutgoingMessage & { channel: ChannelName })[] = []
const sendErrors: Partial<Record<ChannelName, SendErrorReason>> = {}
/** While set, providers do not respond. */
let hanging: Promise<void> | undefined
/** Organisations with a message that waits for the response of a provider. */
const waitingOrganisations = new Set<string>()

test('contact hours are from 09:00 to 20:00 IST', () => {
  const nextTime = (text: string) => new Date(nextContactTime(Date.parse(text))).toISOString()
  assert.equal(nextTime('2026-03-11T03:29:59.999Z'), '2026-03-11T03:30:00.000Z')
  assert.equal(nextTime('2026-03-11T03:30:00.000Z'), '2026-03-11T03:30:00.000Z')
  assert.equal(nextTime('2026-03-11T14:29:59.999Z'), '2026-03-11T14:29:59.999Z')
  assert.equal(nextTime('2026-03-11T14:30:00.000Z'), '2026-03-12T03:30:00.000Z')
  assert.equal(nextTime('2026-03-11T18:31:00.000Z'), '2026-03-12T03:30:00.000Z')
  assert.equal(nextTime('2026-03-11T23:00:00.000Z'), '2026-03-12T03:30:00.000Z')
})

test('a requested contact is four hours later or the next day at the time of the first contact, within contact hours', () => {
  const contactTime = (when: 'today' | 'tomorrow', now: string, firstContact: string) =>
    new Date(requestedContactTime(when, Date.parse(now), Date.parse(firstContact))).toISOString()
  const noon = '2026-03-11T06:30:00.000Z'
  assert.equal(contactTime('today', '2026-03-11T07:00:00Z', noon), '2026-03-11T11:00:00.000Z')
  assert.equal(contactTime('today', '2026-03-11T10:29:59Z', noon), '2026-03-11T14:29:59.000Z')
  assert.equal(contactTime('today', '2026-03-11T10:30:00Z', noon), '2026-03-12T03:30:00.000Z')
  assert.equal(contactTime('today', '2026-03-11T19:00:00Z', noon), '2026-03-12T03:30:00.000Z') // half past midnight
  assert.equal(contactTime('tomorrow', '2026-03-11T07:00:00Z', noon), '2026-03-12T06:30:00.000Z')
  assert.equal(contactTime('tomorrow', '2026-03-13T17:00:00Z', noon), '2026-03-14T06:30:00.000Z')
  assert.equal(contactTime('tomorrow', '2026-03-11T17:00:00Z', '2026-03-11T16:00:00Z'), '2026-03-12T03:30:00.000Z')
})

const setUp = oncePerFile(async (t) => {
  const app = await startApp(t)
  const { context, clock } = app
  const { db } = context
  for (const name of channelNames)
    context.channels[name] = {
      name,
      async send(message) {
        waitingOrganisations.add(message.org_id)
        await hanging
        waitingOrganisations.delete(message.org_id)
        const reason = sendErrors[name]
        if (reason) throw new SendError(reason, `simulated: ${reason}`)
        sentMessages.push({ ...message, channel: name })
        return { providerId: `${name}-${message.message_id}` }
      },
    }
  const changes: CandidateChange[] = []
  t.after(candidatesChanged.observe(async (_tx, list) => void changes.push(...list)))

  /** Enrols one candidate in a LIVE organisation that has every channel. */
  async function enrolCandidate(workflow: object, campaignFields: object = {}) {
    clock.set('2026-03-11T06:30:00Z') // noon in India
    sentMessages.length = 0
    changes.length = 0
    for (const name of Object.keys(sendErrors)) delete sendErrors[name as ChannelName]
    const partner = await createCampaignPartner(app, { mode: 'live' })
    await db.transaction(async (tx) => {
      for (const [channel, settings] of Object.entries({ sms: EXOTEL, voice: EXOTEL_VOICE, email: {} }))
        await saveCredentials(tx, context.vault, clock, partner.orgId, channel as ChannelName, settings)
    })
    const { mandate_id } = await partner.createMandate(workflow)
    const { campaign } = await partner.createCampaign(
      mandate_id,
      [aCandidate(1, { email: 'p@example.com' })],
      campaignFields,
    )
    return { ...partner, campaignId: campaign.campaign_id as string }
  }

  async function result({ get }: Pick<CampaignPartner, 'get'>) {
    return (await get('/results')).body.data.items[0]
  }

  async function reply({ get }: Pick<CampaignPartner, 'get'>, text: string, providerId?: string) {
    const { candidate } = await result({ get })
    await db.transaction(async (tx) => {
      const candidacy = (await lockCandidacy(tx, candidate.candidate_id))!
      await handleReply(tx, context, candidacy, { channel: 'whatsapp', input: { kind: 'reply', text }, providerId })
    })
    await contactNow(context)
  }
  return { app, context, clock, db, changes, enrolCandidate, result, reply }
})

test('the first message contains the link, follow-ups use the workflow, and the candidate expires 72 hours later', async () => {
  const { context, clock, changes, enrolCandidate, result } = await setUp()
  const partner = await enrolCandidate({
    channels: ['whatsapp', 'sms'],
    follow_ups: [
      { after_hours: 24, channel: 'sms' },
      { after_hours: 5, channel: 'whatsapp' },
    ],
  })
  await contactNow(context)
  await contactNow(context)
  assert.equal(sentMessages.length, 1)
  assert.equal(sentMessages[0]!.to, aCandidate(1).phone)
  assert.match(sentMessages[0]!.link, /^http:\/\/127\.0\.0\.1:\d+\/c\/[A-Za-z0-9_-]{43}$/)
  assert.match(sentMessages[0]!.prompts[0]!.text, /Person 1.*Metro Ltd/s)
  const { started_at, output, status } = await result(partner)
  assert.deepEqual([started_at, output.channel, status], ['2026-03-11T06:30:00.000Z', 'whatsapp', 'pending'])
  clock.advance(24 * HOUR - 1)
  await contactNow(context)
  assert.equal(sentMessages.length, 1)
  clock.advance(1)
  await contactNow(context)
  assert.deepEqual([sentMessages.length, sentMessages[1]!.channel, sentMessages[1]!.followUpNumber], [2, 'sms', 1])
  assert.equal(sentMessages[1]!.prompts.length, 2)
  clock.set('2026-03-12T11:30:00Z') // five hours later
  await contactNow(context)
  assert.equal(sentMessages[2]!.channel, 'whatsapp')
  clock.advance(72 * HOUR - 1)
  await contactNow(context)
  assert.equal((await result(partner)).status, 'pending')
  clock.advance(1)
  await contactNow(context)
  const finalResult = await result(partner)
  assert.deepEqual(
    [finalResult.status, finalResult.reason, finalResult.started_at],
    ['failed', 'no_response', started_at],
  )
  assert.equal(sentMessages.length, 3)
  assert.equal((await partner.get('/credits')).body.data.balance, 999)
  assert.equal(changes.at(-1)!.dropOff, 'no_response')
  assert.deepEqual(
    changes.flatMap(({ followUps }) => followUps),
    [
      { followUpNumber: 1, event: 'sent' },
      { followUpNumber: 2, event: 'sent' },
    ],
  )
})

test('neither first messages nor follow-ups are sent at night', async () => {
  const { context, clock, enrolCandidate } = await setUp()
  const partner = await enrolCandidate(
    { follow_ups: [{ after_hours: 9, channel: 'whatsapp' }] },
    { starts_at: '2026-03-11T15:00:00Z' },
  )
  clock.set('2026-03-11T15:00:01Z') // half past eight in the evening
  await contactNow(context)
  assert.equal((await partner.get('/campaigns')).body.data.items[0].status, 'running')
  clock.set('2026-03-12T03:29:59Z')
  await contactNow(context)
  assert.equal(sentMessages.length, 0)
  clock.set('2026-03-12T06:00:00Z')
  await contactNow(context)
  assert.equal(sentMessages.length, 1)
  clock.set('2026-03-12T15:00:00Z') // nine hours later, and too late
  await contactNow(context)
  assert.equal(sentMessages.length, 1)
  clock.set('2026-03-13T03:30:00Z')
  await contactNow(context)
  assert.equal(sentMessages.length, 2)
})

test('follow-ups stop at the first reply; an unfinished conversation expires after 72 hours', async () => {
  const { context, clock, changes, enrolCandidate, result, reply } = await setUp()
  const partner = await enrolCandidate({ follow_ups: [{ after_hours: 1, channel: 'whatsapp' }] })
  await contactNow(context)
  clock.advance(30 * MINUTE)
  await reply(partner, 'yes')
  assert.equal(sentMessages.length, 2) // the first question
  assert.equal(sentMessages[1]!.followUpNumber, undefined)
  clock.advance(71 * HOUR)
  await contactNow(context)
  assert.equal(sentMessages.length, 2)
  clock.advance(HOUR)
  await contactNow(context)
  const { status, reason } = await result(partner)
  assert.deepEqual([status, reason, changes.at(-1)!.dropOff], ['failed', 'expired', 'enrichment'])
})

test('"not now" moves the next contact to the time that the candidate chooses; the conversation expires 72 hours after it', async () => {
  const { context, clock, changes, enrolCandidate, result, reply } = await setUp()
  const partner = await enrolCandidate({
    channels: ['sms', 'whatsapp'],
    follow_ups: [
      { after_hours: 1, channel: 'sms' },
      { after_hours: 1, channel: 'sms' },
    ],
  })
  await contactNow(context)
  await reply(partner, 'Not now, I am at work')
  assert.deepEqual(
    sentMessages
      .at(-1)!
      .prompts.at(-1)!
      .choices.map(({ label }) => label),
    ['Later today', 'Tomorrow', 'Never'],
  )
  await reply(partner, '1')
  assert.match(sentMessages.at(-1)!.prompts[0]!.text, /contact you again later today/)
  assert.equal(sentMessages.at(-1)!.prompts.length, 1)
  assert.equal((await result(partner)).status, 'pending')
  for (const text of ['ok', 'Thank you']) await reply(partner, text)
  assert.equal(sentMessages.length, 3)
  clock.advance(4 * HOUR - 1)
  await contactNow(context)
  assert.equal(sentMessages.length, 3, 'no other follow-up before')
  clock.advance(1)
  await contactNow(context)
  await contactNow(context)
  assert.equal(sentMessages.length, 4)
  const { channel, prompts, isRequested } = sentMessages[3]!
  assert.deepEqual([channel, isRequested], ['whatsapp', true], 'the channel of the reply')
  assert.match(prompts[0]!.text, /you asked us to contact you again/)
  assert.match(prompts[1]!.text, /May we ask you a few questions/)
  const followUps = changes.flatMap((change) => change.followUps)
  assert.deepEqual(followUps, [], 'not a follow-up of the workflow')
  clock.advance(72 * HOUR - 1)
  await contactNow(context)
  assert.equal((await result(partner)).status, 'pending')
  clock.advance(1)
  await contactNow(context)
  const { status, reason } = await result(partner)
  assert.deepEqual([status, reason, changes.at(-1)!.dropOff, sentMessages.length], ['failed', 'expired', 'consent', 4])
  assert.ok(!changes.some(({ reached }) => reached.includes('consented')))
})

test('a contact that does not fit into today is confirmed for tomorrow', async () => {
  const { context, clock, enrolCandidate, reply } = await setUp()
  const partner = await enrolCandidate({})
  await contactNow(context)
  clock.set('2026-03-11T12:00:00Z') // half past five in the afternoon
  await reply(partner, 'अभी नहीं')
  await reply(partner, 'later today')
  assert.match(sentMessages.at(-1)!.prompts[0]!.text, /contact you again tomorrow/)
  clock.set('2026-03-12T03:29:59Z')
  await contactNow(context)
  assert.equal(sentMessages.length, 3)
  clock.set('2026-03-12T03:30:00Z')
  await contactNow(context)
  assert.equal(sentMessages.length, 4)
})

test('a question in the middle can be postponed more often than there are follow-ups, and is then asked again', async () => {
  const { context, clock, enrolCandidate, result, reply } = await setUp()
  const partner = await enrolCandidate({ languages: ['en'], follow_ups: [{ after_hours: 1, channel: 'whatsapp' }] })
  await contactNow(context)
  await reply(partner, 'yes')
  for (let day = 0; day < 7; day++) {
    await reply(partner, 'later')
    await reply(partner, 'tomorrow')
    sentMessages.length = 0
    clock.advance(24 * HOUR - 1)
    await contactNow(context)
    assert.equal(sentMessages.length, 0)
    clock.advance(1)
    await contactNow(context)
    assert.deepEqual(
      sentMessages.map(({ prompts }) => prompts.at(-1)!.text),
      ['Do you hold a wireman licence?'],
    )
  }
  await reply(partner, 'yes')
  assert.equal((await result(partner)).status, 'pending')
})

test('an answer replaces the agreed contact; a reply that is not understood does not', async () => {
  const { context, clock, enrolCandidate, reply } = await setUp()
  const unclear = await enrolCandidate({ languages: ['en'] })
  await contactNow(context)
  for (const text of ['not now', 'tomorrow', 'what is this?']) await reply(unclear, text)
  sentMessages.length = 0
  clock.advance(24 * HOUR)
  await contactNow(context)
  assert.equal(sentMessages.length, 1)

  const answering = await enrolCandidate({ languages: ['en'] })
  await contactNow(context)
  for (const text of ['not now', 'tomorrow', 'yes']) await reply(answering, text)
  sentMessages.length = 0
  clock.advance(24 * HOUR)
  await contactNow(context)
  assert.equal(sentMessages.length, 0)
})

test('a requested contact uses the next channel if it fails at once or later, and does not end the conversation', async () => {
  const { context, clock, db, changes, enrolCandidate, result, reply } = await setUp()
  const partner = await enrolCandidate({ channels: ['whatsapp', 'sms', 'email'] })
  await contactNow(context)
  for (const text of ['not now', 'later today']) await reply(partner, text)
  sentMessages.length = 0
  sendErrors.whatsapp = 'unreachable'
  clock.advance(4 * HOUR)
  for (let round = 0; round < 3; round++) await contactNow(context)
  assert.deepEqual(
    sentMessages.map(({ channel }) => channel),
    ['sms'],
  )
  assert.deepEqual(
    changes.flatMap(({ followUps }) => followUps),
    [],
    'a requested contact is no follow-up',
  )
  sendErrors.email = 'unreachable'
  const providerId = `sms-${sentMessages[0]!.message_id}`
  await db.transaction((tx) => handleDeliveryStatus(tx, context, { channel: 'sms', providerId, status: 'failed' }))
  for (let round = 0; round < 3; round++) await contactNow(context)
  const { candidate, status, reason } = await result(partner)
  assert.deepEqual([status, reason, sentMessages.length], ['pending', null, 1])
  const { rows } = await sql<{ channel: string; state: string }>`
    select channel, state from messages where candidate_id = ${candidate.candidate_id} and requested order by message_id`.execute(
    db.queries,
  )
  assert.deepEqual(
    rows.map(({ channel, state }) => `${channel} ${state}`),
    ['whatsapp failed', 'sms failed', 'email failed'],
  )
  delete sendErrors.whatsapp
  await reply(partner, 'yes')
  assert.equal(sentMessages.length, 2)
})

test('a requested contact that is sent after the end of the conversation is no follow-up', async () => {
  const { context, clock, db, changes, enrolCandidate, result, reply } = await setUp()
  const partner = await enrolCandidate({ languages: ['en'] })
  await contactNow(context)
  for (const text of ['not now', 'later today']) await reply(partner, text)
  const { candidate_id } = (await result(partner)).candidate
  clock.advance(4 * HOUR)
  const { promise, resolve } = Promise.withResolvers<void>()
  hanging = promise
  const contactRun = contactNow(context)
  await until(() => waitingOrganisations.has(partner.orgId))
  changes.length = 0
  await db.transaction(async (tx) => {
    const candidacy = (await lockCandidacy(tx, candidate_id))!
    await handleReply(tx, context, candidacy, { channel: 'whatsapp', input: { kind: 'reply', text: 'STOP' } })
  })
  resolve()
  await contactRun
  hanging = undefined
  assert.equal((await result(partner)).status, 'declined')
  assert.deepEqual(
    changes.flatMap(({ channels }) => channels),
    [{ channel: 'whatsapp', event: 'sent' }],
  )
  assert.deepEqual(
    changes.flatMap(({ followUps }) => followUps),
    [],
  )
})

test('a contact that is still being sent does not replace the requested one', async () => {
  const { context, clock, db, enrolCandidate, result } = await setUp()
  const partner = await enrolCandidate({ follow_ups: [{ after_hours: 1, channel: 'whatsapp' }] })
  await contactNow(context)
  const { candidate_id } = (await result(partner)).candidate
  clock.advance(HOUR)
  const { promise, resolve } = Promise.withResolvers<void>()
  hanging = promise
  const contactRun = contactNow(context)
  await until(() => waitingOrganisations.has(partner.orgId))
  for (const text of ['not now', 'later today'])
    await db.transaction(async (tx) => {
      const candidacy = (await lockCandidacy(tx, candidate_id))!
      await handleReply(tx, context, candidacy, { channel: 'page', input: { kind: 'reply', text } })
    })
  hanging = undefined
  resolve()
  await contactRun
  clock.advance(4 * HOUR)
  await contactNow(context)
  // Candidates of the tests above may be contacted too.
  const own = sentMessages.filter(({ org_id }) => org_id === partner.orgId)
  assert.deepEqual(
    own.map(({ isRequested }) => isRequested),
    [false, false, true],
  )
})

test('never ends as refused at any point, without an opt-out', async () => {
  const { context, enrolCandidate, result, reply } = await setUp()
  for (const firstReplies of [[], ['yes']]) {
    const partner = await enrolCandidate({ languages: ['en'] })
    await contactNow(context)
    for (const text of [...firstReplies, 'not now', '3']) await reply(partner, text)
    const { status, reason } = await result(partner)
    assert.deepEqual([status, reason], ['declined', 'refused'])
    sentMessages.length = 0
    const { mandate_id } = await partner.createMandate()
    await partner.createCampaign(mandate_id, [aCandidate(1)])
    await contactNow(context)
    assert.equal(sentMessages.length, 1, 'another campaign may contact the candidate')
  }
})

test('a duplicate message from a provider counts once', async () => {
  const { context, enrolCandidate, result, reply } = await setUp()
  const partner = await enrolCandidate({})
  await contactNow(context)
  await reply(partner, 'yes', 'wamid.1')
  const { version } = await result(partner)
  await reply(partner, 'yes', 'wamid.1')
  assert.equal((await result(partner)).version, version)
  assert.equal(sentMessages.length, 2)
})

test('the next channel is used when one fails; the credit is refunded when all fail', async () => {
  const { context, changes, enrolCandidate, result } = await setUp()
  const partner = await enrolCandidate({ channels: ['whatsapp', 'voice', 'sms', 'email'] })
  sendErrors.whatsapp = 'rejected'
  sendErrors.voice = 'unreachable'
  for (let round = 0; round < 3; round++) await contactNow(context)
  assert.deepEqual(
    sentMessages.map(({ channel }) => channel),
    ['sms'],
  )
  assert.equal((await result(partner)).output.channel, 'sms')
  assert.deepEqual(
    changes.flatMap(({ channels }) => channels),
    [
      { channel: 'whatsapp', event: 'failed' },
      { channel: 'voice', event: 'failed' },
      { channel: 'sms', event: 'sent' },
    ],
  )

  const unreachablePartner = await enrolCandidate({ channels: ['whatsapp', 'email'] })
  sendErrors.whatsapp = 'unreachable'
  sendErrors.email = 'unreachable'
  for (let round = 0; round < 3; round++) await contactNow(context)
  const { status, reason } = await result(unreachablePartner)
  assert.deepEqual([status, reason], ['failed', 'unreachable'])
  const entries = (await unreachablePartner.get('/credits/entries')).body.data.items
  assert.deepEqual([entries[0].reason, entries[0].amount, entries[0].balance_after], ['refund', 1, 1000])
})

test('messages are sent after a provider outage, and follow-ups are delayed accordingly', async () => {
  const { context, clock, enrolCandidate } = await setUp()
  await enrolCandidate({ follow_ups: [{ after_hours: 2, channel: 'whatsapp' }] })
  sendErrors.whatsapp = 'busy'
  for (let passed = 0; passed < HOUR; passed += MINUTE) {
    await contactNow(context)
    clock.advance(MINUTE)
  }
  assert.equal(sentMessages.length, 0)
  delete sendErrors.whatsapp
  clock.advance(10 * MINUTE)
  await contactNow(context)
  assert.equal(sentMessages.length, 1)
  clock.advance(2 * HOUR - SECOND)
  await contactNow(context)
  assert.equal(sentMessages.length, 1)
  clock.advance(SECOND)
  await contactNow(context)
  assert.equal(sentMessages.length, 2)
})

test('a send with an unknown outcome is not repeated, and the next follow-up is sent', async () => {
  const { context, clock, enrolCandidate, result } = await setUp()
  const partner = await enrolCandidate({ follow_ups: [{ after_hours: 3, channel: 'whatsapp' }] })
  sendErrors.whatsapp = 'unknown'
  await contactNow(context)
  delete sendErrors.whatsapp
  clock.advance(2 * HOUR)
  await contactNow(context)
  assert.equal(sentMessages.length, 0)
  clock.advance(HOUR)
  await contactNow(context)
  assert.deepEqual(
    sentMessages.map(({ followUpNumber }) => followUpNumber),
    [1],
  )
  assert.equal((await result(partner)).status, 'pending')
})

test('a send whose process died is not repeated', async () => {
  const { context, clock, db, enrolCandidate } = await setUp()
  await enrolCandidate({ follow_ups: [{ after_hours: 3, channel: 'whatsapp' }] })
  await db.transaction((tx) => sql`select 1`.execute(tx))
  sendErrors.whatsapp = 'busy'
  await contactNow(context)
  delete sendErrors.whatsapp
  clock.advance(MINUTE)
  // Claimed by a process that never completes the send.
  const { messages: claimedMessages } = await db.transaction((tx) => claimSends(tx, context, 10, []))
  assert.equal(claimedMessages.length, 1)
  clock.advance(MINUTE)
  await contactNow(context)
  assert.equal(sentMessages.length, 0)
  clock.advance(3 * MINUTE)
  await contactNow(context)
  const { rows } = await sql<{ state: string }>`
      select state from messages where message_id = ${claimedMessages[0]!.message_id}`.execute(db.queries)
  assert.deepEqual([sentMessages.length, rows[0]!.state], [0, 'unknown'])
  clock.advance(3 * HOUR)
  await contactNow(context)
  assert.deepEqual(
    sentMessages.map(({ followUpNumber }) => followUpNumber),
    [1],
  )
})

test('delivery reports count once and only advance the state of a message; a late failure uses the next channel', async () => {
  const { context, db, changes, enrolCandidate, result } = await setUp()
  const partner = await enrolCandidate({ channels: ['whatsapp', 'sms'] })
  await contactNow(context)
  const report = (status: 'delivered' | 'read' | 'failed', channel: ChannelName = 'whatsapp', sentIndex = 0) =>
    db.transaction((tx) =>
      handleDeliveryStatus(tx, context, {
        channel,
        providerId: `${channel}-${sentMessages[sentIndex]!.message_id}`,
        status,
      }),
    )
  assert.equal(
    await db.transaction((tx) =>
      handleDeliveryStatus(tx, context, { channel: 'sms', providerId: 'x', status: 'read' }),
    ),
    undefined,
  )
  changes.length = 0
  await report('failed')
  await report('failed')
  await contactNow(context)
  assert.deepEqual(
    sentMessages.map(({ channel }) => channel),
    ['whatsapp', 'sms'],
  )
  await report('read', 'sms', 1)
  await report('delivered', 'sms', 1)
  await report('read', 'sms', 1)
  assert.deepEqual(
    changes.flatMap(({ channels }) => channels.map(({ channel, event }) => `${channel} ${event}`)),
    ['whatsapp failed', 'sms sent', 'sms delivered', 'sms read'],
  )
  assert.equal((await result(partner)).status, 'pending')
})

test('STOP applies to the phone number and the email address in the whole organisation', async () => {
  const { context, enrolCandidate, reply } = await setUp()
  const partner = await enrolCandidate({})
  const { mandate_id } = await partner.createMandate()
  await partner.createCampaign(mandate_id, [{ ...aCandidate(5), phone: aCandidate(1).phone }])
  await contactNow(context)
  assert.equal(sentMessages.length, 2)
  await reply(partner, 'STOP')
  const results = (await partner.get('/results')).body.data.items
  assert.deepEqual(
    results.map(({ status, reason }: any) => [status, reason]),
    [
      ['declined', 'stopped'],
      ['declined', 'stopped'],
    ],
  )
  sentMessages.length = 0
  const laterCampaign = await partner.createCampaign(mandate_id, [
    aCandidate(1),
    { ...aCandidate(2), email: 'P@example.com' },
    aCandidate(3),
  ])
  assert.deepEqual(laterCampaign.campaign.counts, { candidates: 3, pending: 1, completed: 0, declined: 2, failed: 0 })
  assert.deepEqual(laterCampaign.enrolment, {
    accepted: 3,
    duplicates: 0,
    duplicate_rows: [],
    credits_spent: 3,
    credits_left: 997,
  })
  await contactNow(context)
  assert.deepEqual(
    sentMessages.map(({ to }) => to),
    [aCandidate(3).phone],
  )
})

test('a paused campaign sends neither contacts nor responses until it is resumed', async () => {
  const { context, clock, enrolCandidate, reply } = await setUp()
  const partner = await enrolCandidate({})
  await contactNow(context)
  await partner.post(`/campaigns/${partner.campaignId}/pause`)
  await partner.enrol(partner.campaignId, [aCandidate(2)])
  await reply(partner, 'yes')
  clock.advance(HOUR)
  await contactNow(context)
  assert.equal(sentMessages.length, 1)
  await partner.post(`/campaigns/${partner.campaignId}/resume`)
  await contactNow(context)
  assert.equal(sentMessages.length, 3)
})

test('an archived campaign sends nothing', async () => {
  const { context, clock, enrolCandidate } = await setUp()
  const partner = await enrolCandidate({ follow_ups: [{ after_hours: 1, channel: 'whatsapp' }] })
  await contactNow(context)
  await partner.enrol(partner.campaignId, [aCandidate(2)])
  await partner.remove(`/campaigns/${partner.campaignId}`)
  clock.advance(3 * HOUR)
  await contactNow(context)
  assert.equal(sentMessages.length, 1)
})

test('LIVE channels that the organisation has not set up are skipped without an attempt', async () => {
  const { app, context, clock, db } = await setUp()
  clock.set('2026-03-11T06:30:00Z') // noon in India
  const partner = await createCampaignPartner(app, { mode: 'live' }) // with WhatsApp only
  const { mandate_id } = await partner.createMandate({ channels: ['sms', 'whatsapp'] })
  await partner.createCampaign(mandate_id, [aCandidate(1)])
  await contactNow(context)
  const { rows } = await sql<{ channel: string; state: string }>`
    select channel, state from messages where org_id = ${partner.orgId}`.execute(db.queries)
  assert.ok(rows.length > 0)
  assert.deepEqual(
    rows.filter(({ channel, state }) => channel !== 'whatsapp' || state !== 'sent'),
    [],
  )
})

test('concurrent workers send each message once', async () => {
  const { context, clock, enrolCandidate } = await setUp()
  const partner = await enrolCandidate({})
  await partner.enrol(
    partner.campaignId,
    Array.from({ length: 60 }, (_, index) => aCandidate(100 + index)),
  )
  // Several rounds, because of the provider's rate limit.
  for (let round = 0; round < 10; round++) {
    await Promise.all([contactNow(context), contactNow(context), contactNow(context)])
    clock.advance(SECOND)
  }
  assert.equal(sentMessages.length, 61)
  assert.equal(new Set(sentMessages.map(({ to }) => to)).size, 61)
})

test('a provider that hangs does not delay other candidates', async (t) => {
  const { app, context, clock, enrolCandidate, result } = await setUp()
  const { promise, resolve } = Promise.withResolvers<void>()
  hanging = promise
  const slowPartner = await enrolCandidate({})
  const otherPartner = await createCampaignPartner(app)
  await otherPartner.createCampaign((await otherPartner.createMandate()).mandate_id, [aTestNumberCandidate(5)])
  const engine = startContactEngine(context)
  runClock(t, clock)
  // A new result is listed as soon as no transaction is changing it.
  await until(async () => (await result(otherPartner))?.status === 'declined')
  assert.equal((await result(slowPartner)).started_at, null)
  hanging = undefined
  resolve()
  await until(async () => (await result(slowPartner)).started_at !== null)
  await engine.stop()
})

test('a reply while the message is still being sent cancels follow-ups', async () => {
  const { context, clock, db, enrolCandidate, result } = await setUp()
  const { promise, resolve } = Promise.withResolvers<void>()
  const partner = await enrolCandidate({ follow_ups: [{ after_hours: 1, channel: 'whatsapp' }] })
  const { candidate } = await result(partner)
  hanging = promise
  const contactRun = contactNow(context)
  const messageStates = async () =>
    (
      await sql<{ state: string }>`select state from messages where candidate_id = ${candidate.candidate_id}`.execute(
        db.queries,
      )
    ).rows.map(({ state }) => state)
  await until(async () => (await messageStates()).includes('sending'))
  await db.transaction(async (tx) => {
    const candidacy = (await lockCandidacy(tx, candidate.candidate_id))!
    await handleReply(tx, context, candidacy, { channel: 'page', input: { kind: 'reply', text: 'yes' } })
  })
  hanging = undefined
  resolve()
  await contactRun
  clock.advance(3 * HOUR)
  await contactNow(context)
  assert.deepEqual(
    sentMessages.map(({ followUpNumber }) => followUpNumber),
    [0],
  )
})
