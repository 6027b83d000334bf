import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../../test/support/app.ts'
import { signInMember } from '../../../test/support/console.ts'
import { campaignPartner, passTime, testNumber } from '../../../test/support/partners.ts'
import { HOUR } from '../../platform/clock.ts'

test('results are listed by verdict, newest first, with phone numbers', async (t) => {
  const app = await startApp(t)
  const run = await campaignPartner(app)
  const { mandate_id } = await run.mandate()
  const phones = [1, 2, 3, 4, 5, 6].map((number) => testNumber(number)) // passes, knocked out, fails, not interested, declines, silent
  const { campaign_id } = (await run.campaign(mandate_id, phones)).campaign
  await passTime(app, 8000)
  const viewer = await signInMember(app, run.orgId, 'viewer')
  const path = `/orgs/${run.orgId}/test/people`
  const list = async (query: string) => {
    const { status, body } = await viewer.get(`${path}?${query}`)
    assert.equal(status, 200, JSON.stringify(body))
    return body.data
  }
  const names = ({ items }: any) => items.map(({ candidate }: any) => candidate.external_candidate_id).sort()

  const all = await list('limit=100')
  const times = all.items.map(({ updated_at }: any) => updated_at)
  assert.deepEqual(times, times.toSorted().reverse())
  assert.deepEqual(names(all), ['ext-1', 'ext-2', 'ext-3', 'ext-4', 'ext-5', 'ext-6'])
  assert.deepEqual(names(await list('verdict=to_call')), ['ext-1'])
  assert.deepEqual(names(await list('verdict=qualified')), ['ext-1', 'ext-4'])
  assert.deepEqual(names(await list('verdict=not_qualified')), ['ext-2', 'ext-3'])
  assert.deepEqual(names(await list('verdict=qualified&status=pending')), [])
  assert.deepEqual(
    names(await list('verdict=not_qualified&status=declined')),
    [],
    'no verdict without a completed result',
  )
  const [first] = (await list(`verdict=to_call&campaign_id=${campaign_id}`)).items
  assert.deepEqual([first.candidate.phone, first.candidate.email], ['+919990000001', null])
  assert.deepEqual(
    first.output,
    (await run.get(`/results/${first.result_id}`)).body.data.output,
    'the same output as in the partner API',
  )

  const read: string[] = []
  for (let cursor = ''; cursor !== null; ) {
    const page = await list(`limit=2${cursor && `&cursor=${cursor}`}`)
    assert.ok(page.items.length > 0)
    read.push(...page.items.map(({ result_id }: any) => result_id))
    cursor = page.next_cursor
  }
  assert.deepEqual(
    read,
    all.items.map(({ result_id }: any) => result_id),
  )
  const [one, two] = [await list('verdict=qualified&limit=1'), await list('verdict=qualified&limit=2')]
  assert.equal(two.next_cursor, null)
  assert.deepEqual((await list(`verdict=qualified&limit=1&cursor=${one.next_cursor}`)).items, two.items.slice(1))
  assert.equal((await viewer.get(`${path}?verdict=to_call&limit=1&cursor=${one.next_cursor}`)).status, 400)
  assert.equal((await viewer.get(`${path}?verdict=best`)).status, 400)
  assert.deepEqual(names(await list(`campaign_id=CP_01ARZ3NDEKTSV4RRFFQ69G5FAV`)), [])

  const csv = (await viewer.get(`/orgs/${run.orgId}/test/export/results.csv?verdict=to_call`)).body as unknown as string
  const lines = csv.trim().split('\r\n')
  assert.equal(lines.length, 2)
  assert.match(lines[1]!, /,ext-1,Person 1,\+919990000001,,completed,/)

  const rejected = await viewer.get(`/orgs/${run.orgId}/test/export/results.csv?verdict=not_qualified`)
  const [head, ...rows] = (rejected.body as unknown as string)
    .trim()
    .split('\r\n')
    .map((line) => line.split(','))
  const why = head!.indexOf('knocked_out_by')
  const who = head!.indexOf('external_candidate_id')
  assert.deepEqual(rows.map((row) => [row[who], row[why]]).sort(), [
    ['ext-2', 'licence'],
    ['ext-3', ''],
  ])

  app.clock.advance(2 * HOUR)
  assert.deepEqual(names(await list('changed_within_hours=1')), [])
  assert.equal((await list('changed_within_hours=3')).items.length, 6)
})
