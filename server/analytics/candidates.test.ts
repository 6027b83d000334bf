import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertListsAddUp, listCounted } from '../../test/support/analytics-drilldown.ts'
import { startApp, type TestApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { CONSOLE, signInMember } from '../../test/support/console.ts'
import { aCandidate, campaignPartner, errorPaths, passTime, testNumber } from '../../test/support/partners.ts'
import { lockCandidacy } from '../campaigns/candidacy.ts'
import { handleReply } from '../campaigns/contact/replies.ts'
import { aggregateChanges } from './rollups.ts'

const names = (items: any[]) => items.map(({ external_candidate_id }) => external_candidate_id)

function summarise({ status, reason, qualified, skills, interest, knocked_out_by: by }: any): string {
  const verdicts = [...new Set(skills.map(({ verdict }: any) => verdict))].join(' and ')
  const qualification = qualified === null ? 'open' : qualified ? 'qualified' : 'not qualified'
  return `${status} ${reason} ${qualification}: ${verdicts} ${interest}${by ? `, ${by.key}: ${by.question}` : ''}`
}

async function createVariedRun(app: TestApp) {
  const one = await campaignPartner(app)
  const calls = {
    channels: ['voice', 'sms'],
    languages: ['en', 'hi'],
    follow_ups: [{ after_hours: 24, channel: 'sms' }],
  }
  const first = await one.mandate(calls as object)
  const second = await one.mandate({
    channels: ['whatsapp'],
    follow_ups: [{ after_hours: 4, channel: 'whatsapp' }],
  })
  const everyPersona = Array.from({ length: 10 }, (_, index) =>
    testNumber(index + 1, index === 3 ? { language: 'hi' } : {}),
  )
  app.clock.set('2026-03-11T18:29:50Z') // ten seconds before midnight in India
  const { campaign: parts } = await one.campaign(first.mandate_id, everyPersona, { name: 'Every persona' })
  const { campaign: few } = await one.campaign(second.mandate_id, [testNumber(1), testNumber(6), aCandidate(11)])
  app.clock.set('2026-03-11T18:30:01Z')
  await passTime(app, 10_000)
  await one.enrol(few.campaign_id, [aCandidate(12), aCandidate(13, { external_candidate_id: 'ext-13' })])
  await passTime(app, 1000)
  return { ...one, first, second, parts, few }
}

/** Shared by the tests that only read it. */
const startVariedRun = oncePerFile(async (t) => {
  const app = await startApp(t)
  return { app, varied: await createVariedRun(app) }
})

test('every number equals the sum of the list behind it, aggregated or not, with any filter', async (t) => {
  const { app, varied } = await startVariedRun()
  const { get, first, second, few } = varied
  let compared = 0
  const period = 'from=2026-03-11&to=2026-03-12'
  const compare = async (path: string, query: string, limit?: number) => {
    const { status, body } = await get(`${path}${path.includes('?') ? '&' : '?'}${period}`)
    assert.equal(status, 200, JSON.stringify(body))
    compared += await assertListsAddUp(get, body.data, `${period}${query}`, limit)
  }
  const ofFirst = `/analytics/workflows/${first.workflow_id}/overview`
  const ofSecond = `/analytics/workflows/${second.workflow_id}/overview`
  await compare('/analytics/overview', '', 3)
  await compare(ofFirst, `&workflow_id=${first.workflow_id}`)
  await compare(`${ofSecond}?mandate_id=${second.mandate_id}`, `&mandate_id=${second.mandate_id}`)
  const all = `workflow_id=${second.workflow_id}&mandate_id=${second.mandate_id}&campaign_id=${few.campaign_id}`
  await compare(`${ofSecond}?mandate_id=${second.mandate_id}&campaign_id=${few.campaign_id}`, `&${all}`)
  assert.ok((await app.context.db.transaction((tx) => aggregateChanges(tx, 10_000))) > 0)
  await compare('/analytics/overview', '')
  const oneDay = 'from=2026-03-12&to=2026-03-12'
  compared += await assertListsAddUp(get, (await get(`/analytics/overview?${oneDay}`)).body.data, oneDay)
  t.diagnostic(`${compared} numbers compared`)
})

test('the list shows the candidates behind a number and how often each counts', async () => {
  const { varied } = await startVariedRun()
  const { get, parts, few, first } = varied
  const behind = async (counted: string) => {
    const items = await listCounted(get, counted, `campaign_id=${parts.campaign_id}`)
    return Object.fromEntries(items.map((item) => [item.external_candidate_id, item.times]))
  }
  assert.deepEqual(await behind('drop_offs.no_response'), { 'ext-6': 1, 'ext-8': 1 })
  assert.deepEqual(await behind('languages.hi.completed'), { 'ext-4': 1 })
  assert.deepEqual(await behind('daily.2026-03-12.declined'), { 'ext-5': 1, 'ext-10': 1 })
  assert.deepEqual(await behind('daily.2026-03-11.declined'), {})
  const sent = await listCounted(get, 'channels.whatsapp.sent', `campaign_id=${few.campaign_id}`)
  assert.deepEqual(
    sent.find(({ external_candidate_id }) => external_candidate_id === 'ext-6').times,
    2,
    'the first message and one follow-up',
  )
  const skillsDone = await behind('funnel.skills_done')
  assert.equal(skillsDone['ext-2'], 1, 'a knockout counts as having finished the skipped skill questions')
  assert.deepEqual(Object.values(await behind('calls.total_seconds')), Array(7).fill(30))

  const { body } = await get(`/analytics/candidates?counted=funnel.qualified&campaign_id=${parts.campaign_id}`)
  assert.deepEqual(names(body.data.items), ['ext-9', 'ext-4', 'ext-1'], 'newest first')
  const { candidate_id, result_id, ...rest } = body.data.items[2]
  assert.deepEqual(rest, {
    campaign_id: parts.campaign_id,
    mandate_id: first.mandate_id,
    name: 'Person 1',
    external_candidate_id: 'ext-1',
    status: 'completed',
    reason: null,
    qualified: true,
    knocked_out_by: null,
    skills: rest.skills.map(({ skill_id, name }: any) => ({ skill_id, name, verdict: 'verified' })),
    interest: 'interested',
    times: 1,
    campaign_name: 'Every persona',
  })
  const result = (await get(`/results/${result_id}`)).body.data
  assert.equal(result.candidate.candidate_id, candidate_id)
})

test('the list shows outcome and reason as the results do', async () => {
  const { varied } = await startVariedRun()
  const { get, parts } = varied
  const items = await listCounted(get, 'funnel.enrolled', `campaign_id=${parts.campaign_id}`)
  assert.deepEqual(Object.fromEntries(items.map((item) => [item.external_candidate_id, summarise(item)])), {
    'ext-1': 'completed null qualified: verified interested',
    'ext-2': 'completed null not qualified: not_asked null, licence: Do you hold a wireman licence?',
    'ext-3': 'completed null not qualified: not_verified interested',
    'ext-4': 'completed null qualified: verified not_interested',
    'ext-5': 'declined refused not qualified: not_asked null',
    'ext-6': 'failed no_response not qualified: not_asked null',
    'ext-7': 'failed expired not qualified: not_asked null',
    'ext-8': 'failed unreachable not qualified: not_asked null',
    'ext-9': 'completed null qualified: verified interested',
    'ext-10': 'declined stopped not qualified: not_asked null',
  })
  const waiting = await listCounted(get, 'funnel.enrolled', `campaign_id=${varied.few.campaign_id}`)
  assert.equal(
    summarise(waiting.find((item) => item.external_candidate_id === 'ext-13')),
    'pending null open: not_asked null',
  )
  for (const { result_id, reason, qualified, skills, interest } of items) {
    const { reason: why, output } = (await get(`/results/${result_id}`)).body.data
    assert.deepEqual([reason, qualified, interest], [why, output.qualified, output.interest])
    assert.deepEqual(
      skills,
      output.skills.map(({ skill_id, name, verdict }: any) => ({ skill_id, name, verdict })),
    )
  }
})

const startShared = oncePerFile((t) => startApp(t))

test('a candidate who changes the language moves to the list of the new language', async () => {
  const app = await startShared()
  const { context } = app
  const one = await campaignPartner(app)
  const { mandate_id } = await one.mandate({ languages: ['en', 'hi'] })
  await one.campaign(mandate_id, [aCandidate(1), aCandidate(2)])
  await passTime(app, 500)
  const [{ candidate_id }] = await listCounted(one.get, 'languages.en.candidates')
  const changeLanguage = (language: 'en' | 'hi') =>
    context.db.transaction(async (tx) => {
      const candidate = (await lockCandidacy(tx, candidate_id))!
      await handleReply(tx, context, candidate, { channel: 'page', input: { kind: 'language', language } })
    })
  await changeLanguage('hi')
  assert.deepEqual(names(await listCounted(one.get, 'languages.en.candidates')), ['ext-1'])
  assert.deepEqual(names(await listCounted(one.get, 'languages.hi.candidates')), ['ext-2'])
  await changeLanguage('en')
  assert.deepEqual(names(await listCounted(one.get, 'languages.en.candidates')), ['ext-2', 'ext-1'])
  assert.deepEqual(await listCounted(one.get, 'languages.hi.candidates'), [])
})

test('an invalid path is rejected with the allowed values', async () => {
  const app = await startShared()
  const { get } = await campaignPartner(app)
  const statusAndErrors = async (query: string) => {
    const { status, body } = await get(`/analytics/candidates?${query}`)
    return [status, ...(body.error?.details ?? []).map(({ path, message }: any) => `${path} ${message}`)]
  }
  assert.deepEqual(await statusAndErrors(''), [400, 'query.counted is required'])
  assert.deepEqual(await statusAndErrors('counted=calls.average_seconds'), [
    400,
    'query.counted must be calls.{placed|answered|no_answer|busy|failed|total_seconds}',
  ])
  assert.deepEqual(await statusAndErrors('counted=channels.whatsapp'), [
    400,
    'query.counted must be channels.{whatsapp|voice|sms|email}.{sent|delivered|read|replied|failed}',
  ])
  const [, all] = await statusAndErrors('counted=responded')
  for (const part of [
    'funnel.{enrolled|',
    'channels.{',
    'follow_ups.{1|2|3|4|5}.{',
    'calls.{',
    'drop_offs.{',
    'daily.{',
  ])
    assert.ok(all.includes(part), all)
  const invalidPaths = [
    'funnel',
    'funnel.',
    'funnel.Enrolled',
    'funnel.enrolled.',
    'funnel_enrolled',
    'follow_ups.0.sent',
    'follow_ups.6.sent',
    'drop_offs.skills.candidates',
    'languages.fr.completed',
    'daily.2026-03-11',
    'daily.2026-03-11.contacted',
    'constructor',
    '__proto__.x',
    'daily.today.enrolled',
    '%00',
    `${'a'.repeat(101)}`,
    'funnel.enrolled&counted=funnel.completed',
  ]
  for (const counted of invalidPaths)
    assert.deepEqual(errorPaths(await get(`/analytics/candidates?counted=${counted}`)), ['query.counted'], counted)

  assert.deepEqual(await statusAndErrors('counted=daily.2026-02-30.enrolled&from=2026-02-20&to=2026-03-05'), [
    400,
    'query.counted must be a day within the period 2026-02-20 to 2026-03-05',
  ])
  assert.equal((await statusAndErrors('counted=daily.2026-03-06.enrolled&to=2026-03-05'))[0], 400)
  assert.deepEqual(await statusAndErrors('counted=daily.2026-03-05.enrolled&to=2026-03-05'), [200])
  assert.deepEqual(await statusAndErrors('counted=funnel.no&limit=0'), [
    400,
    'query.limit must be at least 1; got 0',
    `query.counted ${(await statusAndErrors('counted=funnel.no'))[1].replace('query.counted ', '')}`,
  ])
  // Invalid periods get the same error messages as in the overview.
  for (const period of [
    'from=2026-02-30',
    'from=2026-03-02&to=2026-03-01',
    'from=2025-01-01&to=2026-01-02',
    'to=soon',
  ]) {
    const { error } = (await get(`/analytics/overview?${period}`)).body
    assert.deepEqual((await get(`/analytics/candidates?counted=funnel.enrolled&${period}`)).body.error, error)
  }
})

test('lists of other organisations and modes are hidden', async () => {
  const app = await startShared()
  const one = await campaignPartner(app)
  const other = await campaignPartner(app)
  const live = await campaignPartner(app, { orgId: one.orgId, mode: 'live' })
  const mine = await one.mandate()
  const second = await one.mandate()
  const theirs = await other.mandate()
  const { campaign } = await one.campaign(mine.mandate_id, [aCandidate(1)])
  const foreignCampaign = (await other.campaign(theirs.mandate_id, [aCandidate(2), aCandidate(3)])).campaign
  const path = '/analytics/candidates?counted=funnel.enrolled'

  assert.deepEqual(names((await one.get(path)).body.data.items), ['ext-1'])
  assert.deepEqual(names((await other.get(path)).body.data.items), ['ext-3', 'ext-2'])
  assert.deepEqual((await live.get(path)).body.data, { items: [], next_cursor: null })
  const statusAndPaths = async (query: string, who = one) => {
    const response = await who.get(`${path}&${query}`)
    return [response.status, ...errorPaths(response)]
  }
  assert.deepEqual(await statusAndPaths(`workflow_id=${theirs.workflow_id}`), [400, 'query.workflow_id'])
  assert.deepEqual(await statusAndPaths(`mandate_id=${theirs.mandate_id}`), [400, 'query.mandate_id'])
  assert.deepEqual(await statusAndPaths(`campaign_id=${foreignCampaign.campaign_id}`), [400, 'query.campaign_id'])
  assert.deepEqual(await statusAndPaths(`workflow_id=${mine.workflow_id}`, live), [400, 'query.workflow_id'])
  assert.deepEqual(await statusAndPaths(`campaign_id=${campaign.campaign_id}`, live), [400, 'query.campaign_id'])
  assert.deepEqual(await statusAndPaths(`workflow_id=${mine.workflow_id}&mandate_id=${second.mandate_id}`), [
    400,
    'query.mandate_id',
  ])
  assert.deepEqual(await statusAndPaths(`mandate_id=${second.mandate_id}&campaign_id=${campaign.campaign_id}`), [
    400,
    'query.campaign_id',
  ])
  assert.deepEqual(await statusAndPaths('workflow_id=x&campaign_id=y'), [400, 'query.workflow_id', 'query.campaign_id'])
  const { next_cursor } = (await other.get(`${path}&limit=1`)).body.data
  assert.deepEqual(await statusAndPaths(`limit=1&cursor=${next_cursor}`), [400, 'query.cursor'])
  const reader = await app.given.key(one.orgId, { mode: 'test', scopes: ['campaigns:read', 'results:read'] })
  assert.equal((await app.as(reader).get(path)).status, 403)

  const viewer = await signInMember(app, one.orgId, 'viewer')
  const seen = await viewer.get(`/orgs/${one.orgId}/test${path}`)
  assert.deepEqual([seen.status, names(seen.body.data.items)], [200, ['ext-1']])
  assert.equal((await viewer.get(`/orgs/${other.orgId}/test${path}`)).status, 404)
  assert.equal((await app.fetch(`${CONSOLE}/orgs/${one.orgId}/test${path}`)).status, 401)
})

test('pages go from the newest campaign to the oldest and keep their period past midnight', async () => {
  const app = await startShared()
  const { get, campaign, enrol, mandate } = await campaignPartner(app)
  const { mandate_id } = await mandate()
  app.clock.set('2026-03-10T06:00:00Z')
  const { campaign: older } = await campaign(mandate_id, [aCandidate(1), aCandidate(2)])
  app.clock.set('2026-03-11T06:00:00Z')
  await campaign(mandate_id, [aCandidate(3), aCandidate(4)])
  await enrol(older.campaign_id, [aCandidate(5)])
  assert.deepEqual(names(await listCounted(get, 'funnel.enrolled', '', 1)), [
    'ext-4',
    'ext-3',
    'ext-5',
    'ext-2',
    'ext-1',
  ])

  const path = '/analytics/candidates?counted=funnel.enrolled&limit=3'
  app.clock.set('2026-04-08T18:29:00Z') // for one more minute, the last 30 days include the first enrolments
  const first = (await get(path)).body.data
  assert.deepEqual(names(first.items), ['ext-4', 'ext-3', 'ext-5'])
  app.clock.set('2026-04-08T18:31:00Z')
  assert.equal((await get('/analytics/overview')).body.data.funnel.enrolled, 3)
  const second = (await get(`${path}&cursor=${first.next_cursor}`)).body.data
  assert.deepEqual([names(second.items), second.next_cursor], [['ext-2', 'ext-1'], null])

  const other = path.replace('enrolled', 'contacted')
  for (const url of [`${other}&cursor=${first.next_cursor}`, `${path}&to=2026-04-08&cursor=${first.next_cursor}`])
    assert.deepEqual(errorPaths(await get(url)), ['query.cursor'])
})
