import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../../test/support/app.ts'
import { signInMember } from '../../../test/support/console.ts'
import { aCandidate, createCampaignPartner } from '../../../test/support/partners.ts'
import { DAY, SECOND } from '../../platform/clock.ts'

test('campaigns, mandates and workflows are searched, filtered, sorted and counted over all rows', async (t) => {
  const app = await startApp(t)
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  for (const name of ['Batch 9', 'Batch 10', '100% night shift', 'autumn']) {
    app.clock.advance(SECOND)
    await partner.createCampaign(mandate_id, name === 'autumn' ? [aCandidate(1), aCandidate(2)] : [aCandidate(1)], {
      name,
    })
  }
  const viewer = await signInMember(app, partner.orgId, 'viewer')
  const list = async (path: string) => {
    const { status, body } = await viewer.get(`/orgs/${partner.orgId}/test/lists/${path}`)
    assert.equal(status, 200, JSON.stringify(body))
    return body.data
  }
  const names = async (query: string) => (await list(`campaigns?${query}`)).items.map((each: any) => each.display_name)
  assert.deepEqual(await names(''), ['autumn', '100% night shift', 'Batch 10', 'Batch 9'])
  assert.deepEqual(await names('q=batch%209'), ['Batch 9'])
  assert.deepEqual(await names('q=0%25'), ['100% night shift'], 'wildcards of the database have no effect')
  assert.deepEqual(await names('sort=name'), ['100% night shift', 'autumn', 'Batch 10', 'Batch 9'])
  assert.equal((await names('sort=candidates'))[0], 'autumn')
  assert.deepEqual(await names('status=archived'), [])
  assert.equal((await list('campaigns?status=running')).total, 4)
  const [first] = (await list('campaigns?q=autumn')).items
  assert.deepEqual(
    [first.job_title, first.counts.candidates, first.status],
    ['Electrician', 2, (await partner.get(`/campaigns/${first.campaign_id}`)).body.data.status],
  )

  const listed: string[] = []
  for (let cursor = ''; cursor !== null; ) {
    const page = await list(`campaigns?sort=name&limit=1${cursor && `&cursor=${cursor}`}`)
    assert.equal(page.total, cursor ? null : 4, 'counted once')
    listed.push(...page.items.map((each: any) => each.display_name))
    cursor = page.next_cursor
  }
  assert.deepEqual(listed, ['100% night shift', 'autumn', 'Batch 10', 'Batch 9'])
  const { next_cursor } = await list('campaigns?sort=name&limit=1')
  for (const other of [
    'campaigns?limit=1',
    'campaigns?sort=name&q=batch',
    'mandates?sort=name',
    'workflows?sort=name',
  ]) {
    const rejected = await viewer.get(`/orgs/${partner.orgId}/test/lists/${other}&cursor=${next_cursor}`)
    assert.equal(rejected.body.error?.code, 'VALIDATION_FAILED', `the cursor is that of another list than ${other}`)
  }

  const mandates = await list('mandates?q=electric&status=ready')
  assert.deepEqual([mandates.total, mandates.items[0].mandate_id], [1, mandate_id])
  assert.ok(mandates.items[0].skills > 0)
  assert.equal((await list('mandates?q=plumber')).total, 0)
  const { body: unused } = await partner.post('/workflows', { name: 'Unused workflow' })
  assert.equal((await app.as(partner.key).delete(`/workflows/${unused.data.workflow_id}`)).status, 200)
  const workflows = await list('workflows?status=active&sort=name')
  assert.equal(workflows.total, workflows.items.length)
  assert.ok(workflows.items.every((each: any) => each.status === 'active'))
  assert.equal((await list('workflows?status=archived')).total, 1)
  assert.equal((await list('workflows')).total, workflows.total + 1)
  assert.ok(workflows.items[0].mandates >= 1)
  assert.equal((await viewer.get(`/orgs/${partner.orgId}/test/lists/campaigns?sort=colour`)).status, 400)

  const [event] = (await partner.get('/events')).body.data.items
  const eventIds = async (query: string) => (await list(`events?${query}`)).items.map((each: any) => each.event_id)
  assert.deepEqual(await eventIds('acknowledged=false'), [event.event_id])
  await partner.post('/events/ack', { event_ids: [event.event_id] })
  assert.deepEqual(await eventIds('acknowledged=true'), [event.event_id])
  assert.deepEqual(await eventIds('acknowledged=false'), [])

  const stranger = await createCampaignPartner(app)
  const strangeViewer = await signInMember(app, stranger.orgId, 'viewer')
  assert.equal((await strangeViewer.get(`/orgs/${stranger.orgId}/test/lists/campaigns`)).body.data.total, 0)
  assert.equal((await viewer.get(`/orgs/${partner.orgId}/live/lists/campaigns`)).body.data.total, 0)
})

test('a delivery shows its request, and an event its deliveries, to members of the organisation only', async (t) => {
  const app = await startApp(t)
  const partner = await createCampaignPartner(app)
  const { body } = await partner.post('/webhooks', {
    url: 'https://ats.example.com/hooks',
    event_types: ['mandate.ready'],
  })
  const { webhook_id, secret } = body.data
  await partner.createMandate()
  await app.context.events.flush({ orgId: partner.orgId, mode: 'test' })
  const [event] = (await partner.get('/events?types=mandate.ready')).body.data.items
  const viewer = await signInMember(app, partner.orgId, 'viewer')
  const paths = (orgId: string, mode = 'test') => [
    `/orgs/${orgId}/${mode}/webhooks/${webhook_id}/deliveries/${event.event_id}`,
    `/orgs/${orgId}/${mode}/lists/events/${event.event_id}/deliveries`,
  ]
  const [delivery, deliveries] = await Promise.all(paths(partner.orgId).map((path) => viewer.get(path)))
  assert.deepEqual([delivery!.status, deliveries!.status], [200, 200])
  const { delivery: _, ...sent } = event
  assert.deepEqual(JSON.parse(delivery!.body.data.body), sent)
  assert.equal(delivery!.body.data.status, 'pending')
  assert.ok(!JSON.stringify(delivery!.body).includes(secret))
  assert.deepEqual(deliveries!.body.data.items, [
    { webhook_id, url: 'https://ats.example.com/hooks', status: 'pending', attempts: 0 },
  ])

  const stranger = await createCampaignPartner(app)
  const strangeViewer = await signInMember(app, stranger.orgId, 'viewer')
  for (const path of paths(stranger.orgId)) assert.equal((await strangeViewer.get(path)).status, 404, path)
  for (const path of paths(partner.orgId, 'live')) assert.equal((await viewer.get(path)).status, 404, path)
  for (const path of paths(partner.orgId)) assert.equal((await strangeViewer.get(path)).status, 404, path)
  app.clock.advance(30 * DAY)
  const [later] = paths(partner.orgId)
  const laterViewer = await signInMember(app, partner.orgId, 'viewer', 'later@example.com')
  assert.match((await laterViewer.get(later!)).body.error.message, /stored for 30 days/)
})
