import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertListsAddUp, listCountedCandidates } from '../../test/support/analytics-drilldown.ts'
import { startApp, type TestApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { CONSOLE_API, signInMember } from '../../test/support/console.ts'
import {
  aCandidate,
  aTestNumberCandidate,
  createCampaignPartner,
  errorPaths,
  passTime,
} from '../../test/support/partners.ts'
import { lockCandidacy } from '../campaigns/candidacy.ts'
import { handleReply } from '../campaigns/contact/replies.ts'
import { aggregateChanges } from './rollups.ts'

const externalIds = (items: any[]) => items.map(({ external_candidate_id }) => external_candidate_id)

function summarise({ status, reason, qualified, skills, interest, knocked_out_by: knockout }: any): string {
  const verdicts = [...new Set(skills.map(({ verdict }: any) => verdict))].join(' and ')
  const qualification = qualified === null ? 'open' : qualified ? 'qualified' : 'not qualified'
  return `${status} ${reason} ${qualification}: ${verdicts} ${interest}${knockout ? `, ${knockout.key}: ${knockout.question} ${knockout.answer}` : ''}`
}

async function createVariedCampaigns(app: TestApp) {
  const partner = await createCampaignPartner(app)
  const callWorkflow = {
    channels: ['voice', 'sms'],
    languages: ['en', 'hi'],
    follow_ups: [{ after_hours: 24, channel: 'sms' }],
  }
  const firstMandate = await partner.createMandate(callWorkflow as object)
  const secondMandate = await partner.createMandate({
    channels: ['whatsapp'],
    follow_ups: [{ after_hours: 4, channel: 'whatsapp' }],
  })
  const everyPersona = Array.from({ length: 10 }, (_, index) =>
    aTestNumberCandidate(index + 1, index === 3 ? { language: 'hi' } : {}),
  )
  app.clock.set('2026-03-11T18:29:50Z') // ten seconds before midnight in India
  const { campaign: personaCampaign } = await partner.createCampaign(firstMandate.mandate_id, everyPersona, {
    name: 'Every persona',
  })
  const { campaign: mixedCampaign } = await partner.createCampaign(secondMandate.mandate_id, [
    aTestNumberCandidate(1),
    aTestNumberCandidate(6),
    aCandidate(11),
  ])
  app.clock.set('2026-03-11T18:30:01Z')
  await passTime(app, 10_000)
  await partner.enrol(mixedCampaign.campaign_id, [aCandidate(12), aCandidate(13, { external_candidate_id: 'ext-13' })])
  await passTime(app, 1000)
  return { ...partner, firstMandate, secondMandate, personaCampaign, mixedCampaign }
}

/** An app with campaigns, shared by the tests that only read them. */
const startVariedCampaigns = oncePerFile(async (t) => {
  const app = await startApp(t)
  return { app, varied: await createVariedCampaigns(app) }
})

test('every number of the overview equals the sum of its candidate list, aggregated or not, with any filter', async (t) => {
  const { app, varied } = await startVariedCampaigns()
  const { get, firstMandate, secondMandate, mixedCampaign } = varied
  let comparedCount = 0
  const period = 'from=2026-03-11&to=2026-03-12'
  const compareOverview = async (path: string, query: string, limit?: number) => {
    const { status, body } = await get(`${path}${path.includes('?') ? '&' : '?'}${period}`)
    assert.equal(status, 200, JSON.stringify(body))
    comparedCount += await assertListsAddUp(get, body.data, `${period}${query}`, limit)
  }
  const firstOverviewPath = `/analytics/workflows/${firstMandate.workflow_id}/overview`
  const secondOverviewPath = `/analytics/workflows/${secondMandate.workflow_id}/overview`
  await compareOverview('/analytics/overview', '', 3)
  await compareOverview(firstOverviewPath, `&workflow_id=${firstMandate.workflow_id}`)
  await compareOverview(
    `${secondOverviewPath}?mandate_id=${secondMandate.mandate_id}`,
    `&mandate_id=${secondMandate.mandate_id}`,
  )
  const allFilters = `workflow_id=${secondMandate.workflow_id}&mandate_id=${secondMandate.mandate_id}&campaign_id=${mixedCampaign.campaign_id}`
  await compareOverview(
    `${secondOverviewPath}?mandate_id=${secondMandate.mandate_id}&campaign_id=${mixedCampaign.campaign_id}`,
    `&${allFilters}`,
  )
  assert.ok((await aggregateChanges(app.context.db, 10_000)) > 0)
  await compareOverview('/analytics/overview', '')
  const oneDayPeriod = 'from=2026-03-12&to=2026-03-12'
  comparedCount += await assertListsAddUp(
    get,
    (await get(`/analytics/overview?${oneDayPeriod}`)).body.data,
    oneDayPeriod,
  )
  t.diagnostic(`${comparedCount} numbers compared`)
})

test('the list shows the candidates behind a number and how often each is counted', async () => {
  const { varied } = await startVariedCampaigns()
  const { get, personaCampaign, mixedCampaign, firstMandate } = varied
  const timesByCandidate = async (counted: string) => {
    const items = await listCountedCandidates(get, counted, `campaign_id=${personaCampaign.campaign_id}`)
    return Object.fromEntries(items.map((item) => [item.external_candidate_id, item.times]))
  }
  assert.deepEqual(await timesByCandidate('drop_offs.no_response'), { 'ext-6': 1, 'ext-8': 1 })
  assert.deepEqual(await timesByCandidate('languages.hi.completed'), { 'ext-4': 1 })
  assert.deepEqual(await timesByCandidate('daily.2026-03-12.declined'), { 'ext-5': 1, 'ext-10': 1 })
  assert.deepEqual(await timesByCandidate('daily.2026-03-11.declined'), {})
  const sentCandidates = await listCountedCandidates(
    get,
    'channels.whatsapp.sent',
    `campaign_id=${mixedCampaign.campaign_id}`,
  )
  assert.deepEqual(
    sentCandidates.find(({ external_candidate_id }) => external_candidate_id === 'ext-6').times,
    2,
    'the first message and one follow-up',
  )
  const skillsDone = await timesByCandidate('funnel.skills_done')
  assert.equal(skillsDone['ext-2'], 1, 'a knockout counts as having finished the skipped skill questions')
  assert.deepEqual(Object.values(await timesByCandidate('calls.total_seconds')), Array(7).fill(30))

  const { body } = await get(
    `/analytics/candidates?counted=funnel.qualified&campaign_id=${personaCampaign.campaign_id}`,
  )
  assert.deepEqual(externalIds(body.data.items), ['ext-9', 'ext-4', 'ext-1'], 'newest first')
  const { candidate_id, result_id, ...rest } = body.data.items[2]
  assert.deepEqual(rest, {
    campaign_id: personaCampaign.campaign_id,
    mandate_id: firstMandate.mandate_id,
    name: 'Person 1',
    external_candidate_id: 'ext-1',
    status: 'completed',
    reason: null,
    qualified: true,
    reasons: [],
    knocked_out_by: null,
    skills: rest.skills.map(({ skill_id, name, asked, confidence }: any) => ({
      skill_id,
      name,
      verdict: 'verified',
      correct: asked,
      asked,
      confidence,
    })),
    interest: 'interested',
    times: 1,
    campaign_name: 'Every persona',
  })
  const result = (await get(`/results/${result_id}`)).body.data
  assert.equal(result.candidate.candidate_id, candidate_id)
})

test('the list shows the same outcomes and reasons as the results', async () => {
  const { varied } = await startVariedCampaigns()
  const { get, personaCampaign } = varied
  const items = await listCountedCandidates(get, 'funnel.enrolled', `campaign_id=${personaCampaign.campaign_id}`)
  assert.deepEqual(Object.fromEntries(items.map((item) => [item.external_candidate_id, summarise(item)])), {
    'ext-1': 'completed null qualified: verified interested',
    'ext-2': 'completed null not qualified: not_asked null, licence: Do you hold a wireman licence? no',
    'ext-3': 'completed null not qualified: not_verified interested',
    'ext-4': 'completed null qualified: verified not_interested',
    'ext-5': 'declined refused open: not_asked null',
    'ext-6': 'failed no_response open: not_asked null',
    'ext-7': 'failed expired open: not_asked null',
    'ext-8': 'failed unreachable open: not_asked null',
    'ext-9': 'completed null qualified: verified interested',
    'ext-10': 'declined stopped open: not_asked null',
  })
  const waitingCandidates = await listCountedCandidates(
    get,
    'funnel.enrolled',
    `campaign_id=${varied.mixedCampaign.campaign_id}`,
  )
  assert.equal(
    summarise(waitingCandidates.find((item) => item.external_candidate_id === 'ext-13')),
    'pending null open: not_asked null',
  )
  for (const { result_id, reason, qualified, reasons, skills, interest } of items) {
    const { reason: resultReason, output } = (await get(`/results/${result_id}`)).body.data
    assert.deepEqual(
      [reason, qualified, reasons, interest],
      [resultReason, output.qualified, output.reasons, output.interest],
    )
    assert.deepEqual(
      skills,
      output.skills.map(({ evidence: _, summary: __, ...skill }: any) => skill),
    )
  }
})

const startSharedApp = oncePerFile((t) => startApp(t))

test('a candidate who changes the language moves to the list of the new language', async () => {
  const app = await startSharedApp()
  const { context } = app
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate({ languages: ['en', 'hi'] })
  await partner.createCampaign(mandate_id, [aCandidate(1), aCandidate(2)])
  await passTime(app, 500)
  const [{ candidate_id }] = await listCountedCandidates(partner.get, 'languages.en.candidates')
  const changeLanguage = (language: 'en' | 'hi') =>
    context.db.transaction(async (tx) => {
      const candidate = (await lockCandidacy(tx, candidate_id))!
      await handleReply(tx, context, candidate, { channel: 'page', input: { kind: 'language', language } })
    })
  await changeLanguage('hi')
  assert.deepEqual(externalIds(await listCountedCandidates(partner.get, 'languages.en.candidates')), ['ext-1'])
  assert.deepEqual(externalIds(await listCountedCandidates(partner.get, 'languages.hi.candidates')), ['ext-2'])
  await changeLanguage('en')
  assert.deepEqual(externalIds(await listCountedCandidates(partner.get, 'languages.en.candidates')), ['ext-2', 'ext-1'])
  assert.deepEqual(await listCountedCandidates(partner.get, 'languages.hi.candidates'), [])
})

test('an invalid path of a number is rejected with the allowed values', async () => {
  const app = await startSharedApp()
  const { get } = await createCampaignPartner(app)
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
  const [, message] = await statusAndErrors('counted=responded')
  for (const part of [
    'funnel.{enrolled|',
    'channels.{',
    'follow_ups.{1|2|3|4|5}.{',
    'calls.{',
    'drop_offs.{',
    'daily.{',
  ])
    assert.ok(message.includes(part), message)
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
    'query.counted must have a day within the period 2026-02-20 to 2026-03-05; got 2026-02-30',
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
    const { request_id: _, ...error } = (await get(`/analytics/overview?${period}`)).body.error
    const { request_id: __, ...sameError } = (await get(`/analytics/candidates?counted=funnel.enrolled&${period}`)).body
      .error
    assert.deepEqual(sameError, error)
  }
})

test('candidate lists of other organisations and modes are hidden', async () => {
  const app = await startSharedApp()
  const partner = await createCampaignPartner(app)
  const otherPartner = await createCampaignPartner(app)
  const livePartner = await createCampaignPartner(app, { orgId: partner.orgId, mode: 'live' })
  const ownMandate = await partner.createMandate()
  const secondMandate = await partner.createMandate()
  const otherMandate = await otherPartner.createMandate()
  const { campaign } = await partner.createCampaign(ownMandate.mandate_id, [aCandidate(1)])
  const otherCampaign = (await otherPartner.createCampaign(otherMandate.mandate_id, [aCandidate(2), aCandidate(3)]))
    .campaign
  const path = '/analytics/candidates?counted=funnel.enrolled'

  assert.deepEqual(externalIds((await partner.get(path)).body.data.items), ['ext-1'])
  assert.deepEqual(externalIds((await otherPartner.get(path)).body.data.items), ['ext-3', 'ext-2'])
  assert.deepEqual((await livePartner.get(path)).body.data, { items: [], next_cursor: null })
  const statusAndPaths = async (query: string, caller = partner) => {
    const response = await caller.get(`${path}&${query}`)
    return [response.status, ...errorPaths(response)]
  }
  assert.deepEqual(await statusAndPaths(`workflow_id=${otherMandate.workflow_id}`), [400, 'query.workflow_id'])
  assert.deepEqual(await statusAndPaths(`mandate_id=${otherMandate.mandate_id}`), [400, 'query.mandate_id'])
  assert.deepEqual(await statusAndPaths(`campaign_id=${otherCampaign.campaign_id}`), [400, 'query.campaign_id'])
  assert.deepEqual(await statusAndPaths(`workflow_id=${ownMandate.workflow_id}`, livePartner), [
    400,
    'query.workflow_id',
  ])
  assert.deepEqual(await statusAndPaths(`campaign_id=${campaign.campaign_id}`, livePartner), [400, 'query.campaign_id'])
  assert.deepEqual(
    await statusAndPaths(`workflow_id=${ownMandate.workflow_id}&mandate_id=${secondMandate.mandate_id}`),
    [400, 'query.mandate_id'],
  )
  assert.deepEqual(await statusAndPaths(`mandate_id=${secondMandate.mandate_id}&campaign_id=${campaign.campaign_id}`), [
    400,
    'query.campaign_id',
  ])
  assert.deepEqual(await statusAndPaths('workflow_id=x&campaign_id=y'), [400, 'query.workflow_id', 'query.campaign_id'])
  const { next_cursor } = (await otherPartner.get(`${path}&limit=1`)).body.data
  assert.deepEqual(await statusAndPaths(`limit=1&cursor=${next_cursor}`), [400, 'query.cursor'])
  const keyWithoutScope = await app.fixtures.createPartnerKey(partner.orgId, {
    mode: 'test',
    scopes: ['campaigns:read', 'results:read'],
  })
  assert.equal((await app.as(keyWithoutScope).get(path)).status, 403)

  const viewer = await signInMember(app, partner.orgId, 'viewer')
  const viewerResponse = await viewer.get(`/orgs/${partner.orgId}/test${path}`)
  assert.deepEqual([viewerResponse.status, externalIds(viewerResponse.body.data.items)], [200, ['ext-1']])
  assert.equal((await viewer.get(`/orgs/${otherPartner.orgId}/test${path}`)).status, 404)
  assert.equal((await app.fetch(`${CONSOLE_API}/orgs/${partner.orgId}/test${path}`)).status, 401)
})

test('the pages of a candidate list go from the newest campaign to the oldest and keep their period past midnight', async () => {
  const app = await startSharedApp()
  const { get, createCampaign, enrol, createMandate } = await createCampaignPartner(app)
  const { mandate_id } = await createMandate()
  app.clock.set('2026-03-10T06:00:00Z')
  const { campaign: olderCampaign } = await createCampaign(mandate_id, [aCandidate(1), aCandidate(2)])
  app.clock.set('2026-03-11T06:00:00Z')
  await createCampaign(mandate_id, [aCandidate(3), aCandidate(4)])
  await enrol(olderCampaign.campaign_id, [aCandidate(5)])
  assert.deepEqual(externalIds(await listCountedCandidates(get, 'funnel.enrolled', '', 1)), [
    'ext-4',
    'ext-3',
    'ext-5',
    'ext-2',
    'ext-1',
  ])

  const path = '/analytics/candidates?counted=funnel.enrolled&limit=3'
  app.clock.set('2026-04-08T18:29:00Z') // for one more minute, the last 30 days include the first enrolments
  const firstPage = (await get(path)).body.data
  assert.deepEqual(externalIds(firstPage.items), ['ext-4', 'ext-3', 'ext-5'])
  app.clock.set('2026-04-08T18:31:00Z')
  assert.equal((await get('/analytics/overview')).body.data.funnel.enrolled, 3)
  const secondPage = (await get(`${path}&cursor=${firstPage.next_cursor}`)).body.data
  assert.deepEqual([externalIds(secondPage.items), secondPage.next_cursor], [['ext-2', 'ext-1'], null])

  const otherPath = path.replace('enrolled', 'contacted')
  for (const url of [
    `${otherPath}&cursor=${firstPage.next_cursor}`,
    `${path}&to=2026-04-08&cursor=${firstPage.next_cursor}`,
  ])
    assert.deepEqual(errorPaths(await get(url)), ['query.cursor'])
})
