import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../../test/support/app.ts'
import { signInMember } from '../../../test/support/console.ts'
import { aTestNumberCandidate, createCampaignPartner, passTime } from '../../../test/support/partners.ts'
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
