import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'csv-parse/sync'
import { startApp } from '../../../test/support/app.ts'
import { signInMember } from '../../../test/support/console.ts'
import { aCandidate, aTestNumberCandidate, createCampaignPartner, passTime } from '../../../test/support/partners.ts'
import { answerWithoutVerdict } from '../../../test/support/undecided-candidate.ts'
import { HOUR } from '../../platform/clock.ts'

test('results are listed by verdict, newest first, with phone numbers', async (t) => {
  const app = await startApp(t)
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  const candidates = [1, 2, 3, 4, 5, 6].map((number) => aTestNumberCandidate(number)) // passes, knocked out, fails, not interested, declines, silent
  const { campaign_id } = (await partner.createCampaign(mandate_id, candidates)).campaign
  await passTime(app, 8000)
  const viewer = await signInMember(app, partner.orgId, 'viewer')
  const path = `/orgs/${partner.orgId}/test/people`
  const listResults = async (query: string) => {
    const { status, body } = await viewer.get(`${path}?${query}`)
    assert.equal(status, 200, JSON.stringify(body))
    return body.data
  }
  const candidateIds = ({ items }: any) => items.map(({ candidate }: any) => candidate.external_candidate_id).sort()

  const allResults = await listResults('limit=100')
  const times = allResults.items.map(({ updated_at }: any) => updated_at)
  assert.deepEqual(times, times.toSorted().reverse())
  assert.deepEqual(candidateIds(allResults), ['ext-1', 'ext-2', 'ext-3', 'ext-4', 'ext-5', 'ext-6'])
  assert.deepEqual(candidateIds(await listResults('verdict=to_call')), ['ext-1'])
  assert.deepEqual(candidateIds(await listResults('verdict=qualified')), ['ext-1', 'ext-4'])
  assert.deepEqual(candidateIds(await listResults('verdict=not_qualified')), ['ext-2', 'ext-3'])
  assert.deepEqual(candidateIds(await listResults('verdict=qualified&status=pending')), [])
  assert.deepEqual(
    candidateIds(await listResults('verdict=not_qualified&status=declined')),
    [],
    'no verdict without a completed result',
  )
  const [firstResult] = (await listResults(`verdict=to_call&campaign_id=${campaign_id}`)).items
  assert.deepEqual([firstResult.candidate.phone, firstResult.candidate.email], ['+919990000001', null])
  assert.deepEqual(
    firstResult.output,
    (await partner.get(`/results/${firstResult.result_id}`)).body.data.output,
    'the same output as in the partner API',
  )

  const listedIds: string[] = []
  for (let cursor = ''; cursor !== null; ) {
    const page = await listResults(`limit=2${cursor && `&cursor=${cursor}`}`)
    assert.ok(page.items.length > 0)
    listedIds.push(...page.items.map(({ result_id }: any) => result_id))
    cursor = page.next_cursor
  }
  assert.deepEqual(
    listedIds,
    allResults.items.map(({ result_id }: any) => result_id),
  )
  const [firstPage, bothResults] = [
    await listResults('verdict=qualified&limit=1'),
    await listResults('verdict=qualified&limit=2'),
  ]
  assert.equal(bothResults.next_cursor, null)
  assert.deepEqual(
    (await listResults(`verdict=qualified&limit=1&cursor=${firstPage.next_cursor}`)).items,
    bothResults.items.slice(1),
  )
  assert.equal((await viewer.get(`${path}?verdict=to_call&limit=1&cursor=${firstPage.next_cursor}`)).status, 400)
  assert.equal((await viewer.get(`${path}?verdict=best`)).status, 400)
  assert.deepEqual(candidateIds(await listResults(`campaign_id=CP_01ARZ3NDEKTSV4RRFFQ69G5FAV`)), [])

  const csv = (await viewer.get(`/orgs/${partner.orgId}/test/export/results.csv?verdict=to_call`))
    .body as unknown as string
  const lines = csv.trim().split('\r\n')
  assert.equal(lines.length, 2)
  assert.match(lines[1]!, /,ext-1,Person 1,\+919990000001,,completed,/)

  const rejectedExport = await viewer.get(`/orgs/${partner.orgId}/test/export/results.csv?verdict=not_qualified`)
  const [head, ...rows] = (rejectedExport.body as unknown as string)
    .trim()
    .split('\r\n')
    .map((line) => line.split(','))
  const knockoutColumn = head!.indexOf('knocked_out_by')
  const candidateIdColumn = head!.indexOf('external_candidate_id')
  assert.deepEqual(rows.map((row) => [row[candidateIdColumn], row[knockoutColumn]]).sort(), [
    ['ext-2', 'licence'],
    ['ext-3', ''],
  ])

  app.clock.advance(2 * HOUR)
  assert.deepEqual(candidateIds(await listResults('changed_within_hours=1')), [])
  assert.equal((await listResults('changed_within_hours=3')).items.length, 6)
})

test('undecided candidates can be listed, and the export contains verdicts, reasons and evidence of each skill', async (t) => {
  const app = await startApp(t)
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  const candidates = [
    aTestNumberCandidate(1),
    aTestNumberCandidate(2),
    aTestNumberCandidate(3),
    aTestNumberCandidate(6),
  ]
  await partner.createCampaign(mandate_id, [...candidates, aCandidate(7)])
  await passTime(app, 8000)
  const viewer = await signInMember(app, partner.orgId, 'viewer')
  const base = `/orgs/${partner.orgId}/test`
  const listUndecided = async () => (await viewer.get(`${base}/people?verdict=undecided`)).body.data.items
  assert.deepEqual(await listUndecided(), [], 'candidates who have not finished are not undecided')
  const allResults = (await viewer.get(`${base}/people`)).body.data.items
  const { candidate_id } = allResults.find(
    ({ candidate }: any) => candidate.external_candidate_id === 'ext-7',
  ).candidate
  await answerWithoutVerdict(app, partner.orgId, candidate_id)
  const undecided = await listUndecided()
  assert.deepEqual(
    undecided.map(({ candidate, status, output }: any) => [candidate.candidate_id, status, output.qualified]),
    [[candidate_id, 'completed', null]],
  )

  const csv = (await viewer.get(`${base}/export/results.csv`)).body as unknown as string
  const rows = parse(csv.replace('\ufeff', ''), { columns: true }) as Record<string, string>[]
  const rowOf = (id: string) => rows.find((row) => row.external_candidate_id === id)!
  const [name] = undecided[0].output.skills.map((skill: any) => skill.name)
  assert.deepEqual(
    ['ext-1', 'ext-2', 'ext-6', 'ext-7'].map((id) => [rowOf(id).verdict, rowOf(id).verdict_reasons]),
    [
      ['qualified', ''],
      ['not qualified', 'answered no to “Do you hold a wireman licence?”'],
      ['', ''],
      ['undecided', undecided[0].output.skills.map((skill: any) => `${skill.name} inconclusive`).join('; ')],
    ],
  )
  assert.match(rowOf('ext-3').verdict_reasons!, new RegExp(`^${name} not verified;`))
  const passed = rowOf('ext-1')
  assert.deepEqual(
    [passed.skill_1, passed.skill_1_verdict, passed.skill_1_correct, passed.skill_1_source, passed.skill_1_language],
    [name, 'verified', passed.skill_1_asked, 'public questions', 'en'],
  )
  assert.ok(Number(passed.skill_1_confidence) >= 0.95)
  const open = rowOf('ext-7')
  assert.deepEqual([open.skill_3_verdict, open.skill_3_asked, open.skill_3_median_seconds], ['inconclusive', '8', '12'])
  assert.ok(Number(open.skill_3_confidence) < 0.95)
  assert.deepEqual([rowOf('ext-2').skill_1_verdict, rowOf('ext-2').skill_1_confidence], ['not_asked', ''])
})
