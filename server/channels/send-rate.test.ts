import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { aCandidate, createCampaignPartner } from '../../test/support/partners.ts'
import { EXOTEL, EXOTEL_VOICE } from '../../test/support/provider.ts'
import { nextSendTime } from '../campaigns/contact/contact-hours.ts'
import { contactNow } from '../campaigns/contact/engine.ts'
import { MINUTE, SECOND } from '../platform/clock.ts'
import { type ChannelName, SendError } from './channel.ts'
import { saveCredentials } from './credentials.ts'
import { pauseUntil, reserveSlots } from './send-rate.ts'

const NOON = '2026-03-11T06:30:00.000Z'

const setUp = oncePerFile(async (t) => {
  const app = await startApp(t)
  const { context, clock } = app
  const sentAt: { orgId: string; channel: ChannelName; time: number }[] = []
  const failures: SendError[] = []
  for (const name of ['whatsapp', 'sms', 'voice'] as const)
    context.channels[name] = {
      name,
      async send({ message_id, org_id }) {
        const failure = failures.shift()
        if (failure) throw failure
        sentAt.push({ orgId: org_id, channel: name, time: clock.now() })
        return { providerId: `${name}-${message_id}` }
      },
    }
  let nextPerson = 1
  const slots = (orgId: string, channel: ChannelName, count: number, now: number, perSecond?: number) =>
    context.db.transaction((tx) => reserveSlots(tx, { org_id: orgId, channel }, count, perSecond, now))

  /** Enrols LIVE candidates at noon in a new organisation with one channel. */
  async function enrol(channel: ChannelName, count: number, perSecond?: number) {
    clock.set(NOON)
    const partner = await createCampaignPartner(app, { mode: 'live' })
    const settings = { ...(channel === 'sms' ? EXOTEL : EXOTEL_VOICE), ...(perSecond ? { per_second: perSecond } : {}) }
    await context.db.transaction((tx) => saveCredentials(tx, context.vault, clock, partner.orgId, channel, settings))
    const { mandate_id: mandateId } = await partner.createMandate({ channels: [channel] })
    const { campaign } = await partner.createCampaign(
      mandateId,
      Array.from({ length: count }, () => aCandidate(nextPerson++)),
    )
    return { ...partner, mandateId, campaignId: campaign.campaign_id as string }
  }
  const sentBy = (orgId: string) => sentAt.filter((sent) => sent.orgId === orgId)
  return { app, context, clock, enrol, slots, sentAt, sentBy, failures }
})

test('after an idle period one second of messages is sent at once, then they are evenly spaced', async () => {
  const { app, slots } = await setUp()
  const { orgId } = await app.fixtures.createOrg()
  const now = Date.parse(NOON)
  const waits = (await slots(orgId, 'sms', 5, now, 2)).map((time) => Math.max(0, time - now))
  assert.deepEqual(waits, [0, 0, 500, 1000, 1500])
  assert.deepEqual(await slots(orgId, 'sms', 1, now, 2), [now + 2000])
  assert.ok((await slots(orgId, 'voice', 1, now, 2))[0]! <= now, 'each channel has its own rate')
  assert.ok((await slots(orgId, 'sms', 1, now + 10 * SECOND, 2))[0]! <= now + 10 * SECOND, 'unused time is not saved')
})

test('workers that reserve at the same time get different slots', async () => {
  const { app, slots } = await setUp()
  const { orgId } = await app.fixtures.createOrg()
  const now = Date.parse(NOON)
  const reserved = (await Promise.all(Array.from({ length: 20 }, () => slots(orgId, 'sms', 10, now, 4)))).flat()
  assert.equal(new Set(reserved).size, 200)
  assert.equal(Math.max(...reserved) - Math.min(...reserved), 199 * 250)
})

test('20,000 messages on three channels get slots within the allowed hours of one day', async () => {
  const { app, slots } = await setUp()
  const { orgId } = await app.fixtures.createOrg()
  const recipient = { mode: 'live' as const, test_clock_id: null, phone: '+919810000001' }
  // 10:00 in India, when calls and SMS may begin.
  const start = Date.parse('2026-03-11T04:30:00.000Z')
  const shares: [ChannelName, number][] = [
    ['whatsapp', 9_000],
    ['sms', 8_000],
    ['voice', 3_000],
  ]
  for (const [channel, count] of shares) {
    let last = 0
    for (let reserved = 0; reserved < count; reserved += 500) last = (await slots(orgId, channel, 500, start)).at(-1)!
    const kind = { channel, isResponse: false, isCode: false }
    assert.equal(nextSendTime(recipient, kind, last), last, `${channel}: the last message is within the hours`)
    assert.ok(last > start + MINUTE, channel)
  }
})

test('two workers send a campaign at the rate of the provider, and an organisation with few messages does not wait', async () => {
  const { context, clock, enrol, sentBy } = await setUp()
  const large = await enrol('sms', 120, 10)
  await contactNow(context) // queues all messages, and sends the first ones
  const small = await enrol('sms', 1, 10)
  await Promise.all([contactNow(context), contactNow(context)])
  assert.equal(sentBy(small.orgId).length, 1)
  for (let tick = 0; tick < 150 && sentBy(large.orgId).length < 120; tick++) {
    clock.advance(100)
    await Promise.all([contactNow(context), contactNow(context)])
  }
  const times = sentBy(large.orgId).map(({ time }) => time - Date.parse(NOON))
  assert.equal(times.length, 120)
  for (const [index, time] of times.entries())
    assert.ok(times.filter((other) => other >= time && other < time + SECOND).length <= 20, `burst at ${index}`)
  assert.ok(times.at(-1)! >= 10.5 * SECOND && times.at(-1)! <= 13 * SECOND, `${times.at(-1)} ms`)
})

test('a provider that is busy pauses the organisation in all workers, and nothing is lost', async () => {
  const { context, clock, enrol, sentBy, failures } = await setUp()
  failures.push(new SendError('busy', 'HTTP 429', 60))
  const partner = await enrol('voice', 5, 1)
  await contactNow(context) // reserves slots in the next seconds for the other messages
  await pauseUntil(context.db.queries, { org_id: partner.orgId, channel: 'voice' }, Date.parse(NOON) + SECOND)
  for (let tick = 1; tick < 60; tick++) {
    clock.advance(SECOND)
    await contactNow(context)
  }
  assert.equal(sentBy(partner.orgId).length, 0, 'nothing is sent during the pause')
  for (let tick = 0; tick < 30 && sentBy(partner.orgId).length < 5; tick++) {
    clock.advance(SECOND)
    await contactNow(context)
  }
  assert.equal(sentBy(partner.orgId).length, 5)
})

test('the slots of an archived campaign are available to the next campaign', async () => {
  const { context, clock, enrol, sentBy } = await setUp()
  const partner = await enrol('voice', 30, 1)
  await contactNow(context)
  assert.equal(sentBy(partner.orgId).length, 1)
  assert.equal((await partner.remove(`/campaigns/${partner.campaignId}`)).status, 200)
  await partner.createCampaign(partner.mandateId, [aCandidate(1)])
  await contactNow(context)
  assert.equal(sentBy(partner.orgId).length, 1, 'the rate still applies')
  clock.advance(SECOND)
  await contactNow(context)
  assert.equal(sentBy(partner.orgId).length, 2)
})
