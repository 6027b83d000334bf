import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import { assertListsAddUp } from '../../test/support/analytics-drilldown.ts'
import { startApp, type TestApp } from '../../test/support/app.ts'
import {
  aCandidate,
  aTestNumberCandidate,
  type CampaignPartner,
  createCampaignPartner,
  passTime,
} from '../../test/support/partners.ts'
import { EXOTEL, WHATSAPP } from '../../test/support/provider.ts'
import { countsInOverview, recountOverview } from '../../test/support/recount.ts'
import { findCandidacy, lockCandidacy } from '../campaigns/candidacy.ts'
import { contactNow } from '../campaigns/contact/engine.ts'
import { handleReply } from '../campaigns/contact/replies.ts'
import { handleDeliveryStatus } from '../campaigns/contact/statuses.ts'
import { type ChannelName, SendError } from '../channels/channel.ts'
import { saveCredentials } from '../channels/credentials.ts'
import { simulatedReply } from '../channels/simulator/simulated-reply.ts'
import { personaBehaviours } from '../channels/simulator/test-script.ts'
import type { Mandate } from '../mandates/mandate-rows.ts'
import { HOUR } from '../platform/clock.ts'
import { indianDate } from '../platform/india-time.ts'
import { aggregateChanges } from './rollups.ts'

// Environment variables: SEED=… repeats a run, ACTIONS=… sets its number of random actions.
const SEED = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
const ACTION_COUNT = Number(process.env.ACTIONS ?? 60)

for (const mode of ['test', 'live'] as const) {
  test(`the figures of random ${mode} campaigns equal a recount (seed ${SEED})`, async (t) => {
    const app = await startApp(t)
    const random = randomFrom(SEED)
    const partner = await createCampaignPartner(app, { mode, credits: 2000 })
    if (mode === 'live') await installRandomChannels(app, partner, random)
    await runRandomActions(t, app, partner, random)
  })
}

type Random = ReturnType<typeof randomFrom>

async function runRandomActions(t: TestContext, app: TestApp, partner: CampaignPartner, random: Random) {
  const { context, clock } = app
  const { db } = context
  const { get, post, remove, scope } = partner
  const workflows = [
    { channels: ['whatsapp', 'sms'], languages: ['en', 'hi'], follow_ups: [{ after_hours: 20, channel: 'sms' }] },
    { channels: partner.mode === 'test' ? ['voice', 'sms'] : ['sms'], languages: ['en'], follow_ups: [] },
  ]
  const mandates: Mandate[] = []
  for (const workflow of workflows) mandates.push(await partner.createMandate(workflow as object))
  const campaignIds: string[] = []
  const startedAt = clock.now()
  let personCount = 0
  let checkCount = 0

  const actions: Record<string, () => Promise<unknown>> = {
    async start() {
      const mandate = random.of(mandates)
      const randomProperties = mandate === mandates[0] ? () => random.of([{}, { language: 'hi' }]) : () => ({})
      const { campaign } = await partner.createCampaign(mandate.mandate_id, newCandidates(randomProperties))
      campaignIds.push(campaign.campaign_id)
    },
    enrol: () =>
      partner.enrol(
        random.of(campaignIds),
        newCandidates(() => ({})),
      ),
    reply: () => replyAsRandomCandidate(app, partner, random),
    report: () => reportStatuses(app, random),
    async pause() {
      const path = `/campaigns/${random.of(campaignIds)}`
      await post(`${path}/pause`, {})
      await contactNow(context)
      if (random.oneIn(3)) await post(`${path}/resume`, {})
    },
    resume: () => post(`/campaigns/${random.of(campaignIds)}/resume`, {}),
    archive: async () => random.oneIn(3) && (await remove(`/campaigns/${random.of(campaignIds)}`)),
    async wait() {
      if (random.oneIn(2)) return passTime(app, 2000, 500)
      clock.advance(random.of([1, 9, 21, 73]) * HOUR)
      await contactNow(context)
    },
    aggregate: () => aggregateChanges(db, random.of([3, 50, 10_000])),
    check: checkFigures,
  }
  const frequentActions = [
    'start',
    'enrol',
    'reply',
    'reply',
    'reply',
    'wait',
    'wait',
    'wait',
    'report',
    'report',
    'check',
  ]
  await actions.start!()
  for (let done = 0; done < ACTION_COUNT; done++)
    await actions[random.of([...Object.keys(actions), ...frequentActions])]!()
  for (let days = 0; days < 4; days++) {
    clock.advance(24 * HOUR)
    await contactNow(context)
  }
  await checkFigures()
  await aggregateChanges(db, 100_000)
  await checkFigures()
  const period = `from=${indianDate(startedAt)}&to=${indianDate(clock.now())}`
  const { data } = (await get(`/analytics/overview?${period}`)).body
  const { funnel } = data
  await assertListsAddUp(get, data, period, 1 + random.number(20))
  t.diagnostic(`${funnel.enrolled} candidates, ${funnel.completed} completed, ${checkCount} checks`)

  function newCandidates(extraProperties: () => object) {
    const testNumbers = random.oneIn(2) ? [random.number(11) + 1] : []
    return [
      ...testNumbers.map((number) => aTestNumberCandidate(number, { external_candidate_id: `test-${++personCount}` })),
      // A few phone numbers are reused, so that an opt-out also applies to another campaign.
      ...Array.from({ length: 1 + random.number(6) }, () =>
        aCandidate(random.oneIn(4) ? random.number(5) : 100 + ++personCount, {
          external_candidate_id: `ext-${++personCount}`,
          ...extraProperties(),
        }),
      ),
    ]
  }

  async function checkFigures() {
    checkCount++
    const days = [startedAt, clock.now(), startedAt + random.number(10) * 24 * HOUR].map(indianDate)
    for (const [from, to] of [days.slice(0, 2), [days[2]!, days[2]!]] as [string, string][]) {
      const period = `from=${from}&to=${to}`
      const mandate = random.of(mandates)
      const campaignId = random.of(campaignIds)
      const belongsToMandate = (await get(`/campaigns/${campaignId}`)).body.data.mandate_id === mandate.mandate_id
      const { workflow_id, mandate_id } = mandate
      const path = `/analytics/workflows/${workflow_id}/overview?${period}`
      await assertSameAsRecount(`/analytics/overview?${period}`, { from, to })
      await assertSameAsRecount(path, { from, to, workflow_id })
      await assertSameAsRecount(`${path}&mandate_id=${mandate_id}`, { from, to, mandate_id })
      if (belongsToMandate)
        await assertSameAsRecount(`${path}&campaign_id=${campaignId}`, { from, to, campaign_id: campaignId })
    }
  }

  async function assertSameAsRecount(path: string, filter: Parameters<typeof recountOverview>[2]) {
    const { status, body } = await get(path)
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(
      sortByName(countsInOverview(body.data)),
      sortByName(await recountOverview(db, scope, filter)),
      path,
    )
    const { qualified, interested, ...stages } = body.data.funnel
    const counts = Object.values(stages) as number[]
    assert.deepEqual(
      counts,
      [...counts].sort((a, b) => b - a),
      'each funnel stage has at most as many candidates as the one before',
    )
    assert.ok(qualified <= stages.completed && interested <= stages.completed)
  }
}

/** Replies as a random candidate who is not a test number: on the channel or on the page, with valid and invalid replies. */
async function replyAsRandomCandidate({ context }: TestApp, { scope }: CampaignPartner, random: Random) {
  const { rows } = await sql<{ candidate_id: string }>`
    select candidate_id from candidate_progress
    where org_id = ${scope.orgId} and mode = ${scope.mode} order by candidate_id desc limit 40`.execute(
    context.db.queries,
  )
  const candidacies = await Promise.all(rows.map(({ candidate_id }) => findCandidacy(context.db.queries, candidate_id)))
  const people = candidacies.filter((candidate) => candidate?.phone && !candidate.phone.startsWith('+91999'))
  if (people.length === 0) return
  const { candidate_id } = random.of(people)!
  let isContactAgreed = false
  for (let replies = 1 + random.number(14); replies > 0 && !isContactAgreed; replies--) {
    await context.db.transaction(async (tx) => {
      const candidate = (await lockCandidacy(tx, candidate_id))!
      const persona = random.of([
        'passes',
        'passes',
        'passes',
        'knocked_out',
        'fails_skills',
        'not_interested',
      ] as const)
      const input = random.oneIn(12)
        ? random.of([
            { kind: 'reply' as const, text: random.of(['STOP', 'what?', 'later', 'later']) },
            { kind: 'language' as const, language: random.of(['en', 'hi'] as const) },
            { kind: 'back' as const },
          ])
        : simulatedReply(personaBehaviours[persona], candidate.state, candidate.flow, 1)
      const channel = candidate.channel && random.oneIn(2) ? candidate.channel : 'page'
      const updatedCandidate = input ? await handleReply(tx, context, candidate, { channel, input }) : candidate
      isContactAgreed = updatedCandidate.state.contactAt !== undefined
    })
  }
}

/** Installs channels that randomly accept messages, reject them, are busy, or fail with an unknown outcome. */
async function installRandomChannels(app: TestApp, { orgId, remove }: CampaignPartner, random: Random) {
  const { context, clock } = app
  for (const name of ['whatsapp', 'sms'] as ChannelName[]) {
    await context.db.transaction((tx) =>
      saveCredentials(tx, context.vault, clock, orgId, name, name === 'sms' ? EXOTEL : { template: WHATSAPP.template }),
    )
    context.channels[name] = {
      name,
      async send({ message_id }) {
        // Archive the campaign while its message is being sent.
        if (random.oneIn(20)) await remove(`/campaigns/${await campaignOf(message_id)}`)
        if (random.oneIn(6)) throw new SendError(random.of(['rejected', 'unreachable', 'busy']), 'injected error')
        if (random.oneIn(12)) throw new Error('connection lost')
        return { providerId: `p-${message_id}` }
      },
    }
  }

  async function campaignOf(messageId: string) {
    const { rows } = await sql<{ campaign_id: string }>`
      select campaign_id from messages where message_id = ${messageId}`.execute(context.db.queries)
    return rows[0]!.campaign_id
  }
}

/** Reports random delivery statuses for recently accepted messages. */
async function reportStatuses({ context }: TestApp, random: Random) {
  const { rows } = await sql<{ channel: ChannelName; provider_id: string }>`
    select channel, provider_id from messages where direction = 'out' and provider_id is not null
    order by message_id desc limit 30`.execute(context.db.queries)
  for (const { channel, provider_id: providerId } of rows.filter(() => random.oneIn(2))) {
    const status = random.of(['delivered', 'delivered', 'read', 'failed'] as const)
    await context.db.transaction((tx) => handleDeliveryStatus(tx, context, { channel, providerId, status }))
  }
}

function sortByName(counts: Record<string, number>) {
  return Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Returns a pseudo-random number generator (linear congruential): the same seed gives the same numbers. */
function randomFrom(seed: number) {
  let state = seed
  const nextFraction = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state >>> 8) / 2 ** 24
  }
  const number = (below: number) => Math.floor(nextFraction() * below)
  return {
    number,
    /** Returns true with a probability of 1 in `times`. */
    oneIn: (times: number) => number(times) === 0,
    of: <T>(list: readonly T[]): T => list[number(list.length)]!,
  }
}
