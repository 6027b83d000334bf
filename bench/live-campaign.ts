/**
 * Sends a LIVE campaign to India on three channels: everyone gets a WhatsApp message, an SMS an hour later and a call two hours after that.
 * The providers are simulated over HTTP, and the clock is moved, so that a day takes minutes. Each channel has its default rate.
 */
import { sql } from 'kysely'
import { nextContactDue } from '../server/campaigns/contact/contact.ts'
import { nextSendTime } from '../server/campaigns/contact/contact-hours.ts'
import { contactNow } from '../server/campaigns/contact/engine.ts'
import { nextSendDue } from '../server/campaigns/contact/sends.ts'
import type { ChannelName } from '../server/channels/channel.ts'
import { saveCredentials } from '../server/channels/credentials.ts'
import { HOUR, SECOND } from '../server/platform/clock.ts'
import type { TestApp } from '../test/support/app.ts'
import type { Cleanup } from '../test/support/cleanup.ts'
import { aCandidate, createCampaignPartner } from '../test/support/partners.ts'
import { EXOTEL, EXOTEL_VOICE, startProvider, WHATSAPP } from '../test/support/provider.ts'
import { withTestApp } from './support/app.ts'
import { type BenchmarkOptions, type BenchmarkRow, runFromCommandLine } from './support/benchmark.ts'

/** 10:00 in India. */
const START = Date.parse('2026-03-11T04:30:00.000Z')
/** Short, because the rate of a provider keeps unused messages for one second only. */
const MIN_STEP_MS = SECOND / 2
const CANDIDATES_PER_CALL = 500
const CHANNELS = ['whatsapp', 'sms', 'voice'] as const

export async function runBenchmark({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  return withTestApp((app, t) => sendCampaign(app, t, short ? 100 : 20_000))
}

async function sendCampaign(app: TestApp, t: Cleanup, candidateCount: number): Promise<BenchmarkRow[]> {
  const { context, clock } = app
  const { db, vault } = context
  clock.set(START)
  const provider = await startProvider(t)
  const partner = await createCampaignPartner(app, {
    mode: 'live',
    credits: candidateCount,
    peoplePerDay: candidateCount,
  })
  const settings = { whatsapp: WHATSAPP, sms: EXOTEL, voice: EXOTEL_VOICE }
  await db.transaction(async (tx) => {
    for (const channel of CHANNELS)
      await saveCredentials(tx, vault, clock, partner.orgId, channel, { ...settings[channel], base_url: provider.url })
  })
  const mandate = await partner.createMandate({
    channels: [...CHANNELS],
    languages: ['en'],
    follow_ups: [
      { after_hours: 1, channel: 'sms' },
      { after_hours: 2, channel: 'voice' },
    ],
  })
  const { campaign } = await partner.createCampaign(mandate.mandate_id)
  for (let start = 1; start <= candidateCount; start += CANDIDATES_PER_CALL) {
    const length = Math.min(CANDIDATES_PER_CALL, candidateCount - start + 1)
    const candidates = Array.from({ length }, (_, index) => aCandidate(start + index))
    const { status, body } = await partner.enrol(campaign.campaign_id, candidates)
    if (status !== 202) throw new Error(`${status} ${JSON.stringify(body)}`)
  }

  const startedAt = performance.now()
  while (clock.now() < START + 24 * HOUR) {
    await contactNow(context)
    if (provider.received.length >= CHANNELS.length * candidateCount) break
    clock.set(Math.max(clock.now() + MIN_STEP_MS, await nextDue(app)))
  }
  const seconds = (performance.now() - startedAt) / 1000
  const { rows: messages } = await sql<{ channel: ChannelName; candidate_id: string; sent_at: Date }>`
    select channel, candidate_id, sent_at from messages where direction = 'out' and sent_at is not null`.execute(
    db.queries,
  )
  const recipient = { mode: 'live' as const, test_clock_id: null, phone: aCandidate(1).phone }
  const isOutsideHours = ({ channel, sent_at }: { channel: ChannelName; sent_at: Date }) =>
    nextSendTime(recipient, { channel, isResponse: false, isCode: false }, sent_at.getTime()) !== sent_at.getTime()
  return [
    ...CHANNELS.map((channel) => {
      const ofChannel = messages.filter((message) => message.channel === channel)
      const people = new Set(ofChannel.map(({ candidate_id }) => candidate_id)).size
      const last = Math.max(...ofChannel.map(({ sent_at }) => sent_at.getTime()))
      return {
        name: `${channel}: hours from the start to the last message`,
        value: (last - START) / HOUR,
        unit: 'h',
        note: `${ofChannel.length} messages to ${people} people`,
      }
    }),
    { name: 'messages outside the allowed hours', value: messages.filter(isOutsideHours).length, unit: '' },
    {
      name: 'people who did not get exactly one message on each channel',
      value: countWrongPeople(messages, candidateCount),
      unit: '',
    },
    { name: 'messages per second of real time', value: messages.length / seconds, unit: '/s' },
  ]
}

async function nextDue({ context: { db, clock, keyring } }: TestApp): Promise<number> {
  const [contact, send] = await Promise.all([
    nextContactDue(db.queries, keyring.pausedOrganisations(), clock.now()),
    nextSendDue(db.queries, keyring.pausedOrganisations(), clock.now()),
  ])
  return Math.min(contact ?? Number.POSITIVE_INFINITY, send ?? Number.POSITIVE_INFINITY)
}

function countWrongPeople(messages: { channel: ChannelName; candidate_id: string }[], candidateCount: number): number {
  const channelsByPerson = new Map<string, ChannelName[]>()
  for (const { candidate_id, channel } of messages)
    channelsByPerson.set(candidate_id, [...(channelsByPerson.get(candidate_id) ?? []), channel])
  const correct = [...channelsByPerson.values()].filter(
    (channels) => channels.length === CHANNELS.length && new Set(channels).size === CHANNELS.length,
  ).length
  return candidateCount - correct
}

if (import.meta.main) await runFromCommandLine('live-campaign', runBenchmark)
