import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { aMandate, prepareMandates, startApp } from '../../../test/support/app.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { signIn, signInMember } from '../../../test/support/console.ts'
import { createPartner } from '../../../test/support/partners.ts'
import { grantCredits } from '../../campaigns/credits.ts'
import { recordEvent } from '../../events/record.ts'
import { MINUTE } from '../../platform/clock.ts'

const startSharedApp = oncePerFile((t) => startApp(t))

async function setUp() {
  const app = await startSharedApp()
  const { context, clock } = app
  const api = await createPartner(app, 'test')
  const { orgId } = api
  const owner = await signInMember(app, orgId, 'owner')
  const base = `/orgs/${orgId}/test`
  await context.db.transaction((tx) => grantCredits(tx, { orgId, mode: 'test' }, clock, 10))
  return { app, context, clock, api, orgId, owner, base }
}

test('a resource can be changed only through the interface that created it', async () => {
  const { context, api, owner, base } = await setUp()
  const ownWorkflow = (await owner.post(`${base}/workflows`, { name: 'By hand' })).body.data
  const apiWorkflow = (await api.post('/workflows', { name: 'By a program' })).body.data
  assert.deepEqual([ownWorkflow.created_via, apiWorkflow.created_via], ['playground', 'api'])
  assert.equal((await owner.get(`${base}/workflows/${apiWorkflow.workflow_id}`)).status, 200)
  assert.equal((await api.get(`/workflows/${ownWorkflow.workflow_id}`)).status, 200)

  const ownChange = await owner.put(`${base}/workflows/${ownWorkflow.workflow_id}`, { name: 'By hand, again' })
  assert.equal(ownChange.status, 200)
  const foreignChange = await owner.put(`${base}/workflows/${apiWorkflow.workflow_id}`, { name: 'Mine now' })
  assert.equal(foreignChange.status, 403)
  assert.match(foreignChange.body.error.message, /created through the API/)
  const apiChange = await api.put(`/workflows/${ownWorkflow.workflow_id}`, { name: 'Mine now' })
  assert.equal(apiChange.status, 403)
  assert.match(apiChange.body.error.message, /created in the playground/)

  const mandate = await api.post('/mandates', aMandate(apiWorkflow.workflow_id))
  await prepareMandates(context)
  const path = `/mandates/${mandate.body.data.mandate_id}`
  assert.equal((await owner.put(base + path, aMandate(apiWorkflow.workflow_id))).status, 403)
  assert.equal((await owner.delete(base + path)).status, 403)
  assert.equal((await owner.get(base + path)).body.data.status, 'ready')

  const endpoint = await api.post('/webhooks', { url: 'http://127.0.0.1:9999/' })
  assert.equal(endpoint.status, 201, JSON.stringify(endpoint.body))
  assert.equal((await owner.post(`${base}/webhooks/${endpoint.body.data.webhook_id}/disable`)).status, 403)
  const ownEndpoint = await owner.post(`${base}/webhooks`, { url: 'http://127.0.0.1:9999/' })
  assert.equal(ownEndpoint.body.data.created_via, 'playground')
  assert.equal((await owner.post(`${base}/webhooks/${ownEndpoint.body.data.webhook_id}/disable`)).status, 200)
})

test('every campaign can be paused and archived in the console', async () => {
  const { context, clock, api, owner, base } = await setUp()
  const { workflow_id } = (await api.post('/workflows', { name: 'By a program' })).body.data
  const { mandate_id } = (await api.post('/mandates', aMandate(workflow_id))).body.data
  await prepareMandates(context)
  const withIdempotencyKey = () => ({ 'idempotency-key': randomUUID() })
  const createResponse = await api.post('/campaigns', { mandate_id }, { idempotencyKey: true })
  const path = `${base}/campaigns/${createResponse.body.data.campaign.campaign_id}`
  assert.equal((await owner.post(`${path}/pause`)).status, 200)
  assert.equal((await owner.post(`${path}/resume`)).status, 200)
  const candidates = [{ external_candidate_id: 'c-1', name: 'Asha', phone: '+919812345678' }]
  assert.equal((await owner.post(`${path}/candidates`, { candidates }, withIdempotencyKey())).status, 403)
  assert.equal((await owner.delete(path)).body.data.status, 'archived')

  const ownCampaign = await owner.post(`${base}/campaigns`, { mandate_id, candidates }, withIdempotencyKey())
  assert.equal(ownCampaign.status, 202, JSON.stringify(ownCampaign.body))
  assert.equal(ownCampaign.body.data.campaign.created_via, 'playground')
  clock.advance(MINUTE)
  assert.equal((await api.post(`/campaigns/${ownCampaign.body.data.campaign.campaign_id}/pause`)).status, 403)
})

test('a dry run returns the usual response and stores nothing', async () => {
  const { context, clock, owner, base } = await setUp()
  clock.advance(MINUTE)
  const dryRunHeaders = { 'x-dry-run': 'true' }
  const { workflow_id } = (await owner.post(`${base}/workflows`, { name: 'For dry runs' })).body.data
  const countBefore = (await owner.get(`${base}/mandates`)).body.data.items.length
  const dryRun = await owner.post(`${base}/mandates`, aMandate(workflow_id), dryRunHeaders)
  assert.equal(dryRun.status, 202)
  assert.equal(dryRun.headers.get('x-dry-run'), 'true')
  const invalidResponse = await owner.post(
    `${base}/mandates`,
    { ...aMandate(workflow_id), salary: { min: 2, max: 1 } },
    dryRunHeaders,
  )
  assert.equal(invalidResponse.status, 400)
  assert.equal((await owner.get(`${base}/mandates`)).body.data.items.length, countBefore)

  const { mandate_id } = (await owner.post(`${base}/mandates`, aMandate(workflow_id))).body.data
  await prepareMandates(context)
  const candidates = ['+919812345678', '12', '+919812345679'].map((phone, index) => {
    return { external_candidate_id: `c-${index}`, name: 'Asha', phone }
  })
  const rowsResponse = await owner.post(`${base}/campaigns`, { mandate_id, candidates }, dryRunHeaders)
  assert.deepEqual(
    rowsResponse.body.error.details.map(({ path }: { path: string }) => path),
    ['candidates[1].phone'],
  )
  const { balance } = (await owner.get(`${base}/credits`)).body.data
  const validResponse = await owner.post(
    `${base}/campaigns`,
    { mandate_id, candidates: [candidates[0]] },
    dryRunHeaders,
  )
  assert.equal(validResponse.body.data.enrolment.credits_left, balance - 1)
  assert.equal((await owner.get(`${base}/credits`)).body.data.balance, balance)
  const ackResponse = await owner.post(
    `${base}/events/ack`,
    { event_ids: ['EV_01ARZ3NDEKTSV4RRFFQ69G5FAV'] },
    dryRunHeaders,
  )
  assert.equal(ackResponse.status, 400, 'routes without a dry run reject it')
})

test('Idempotency-Key works as in the partner API, separately for each member and organisation', async () => {
  const { app, clock, orgId, owner, base } = await setUp()
  clock.advance(MINUTE)
  const keyHeader = { 'idempotency-key': 'the same' }
  const firstResponse = await owner.post(`${base}/workflows`, { name: 'Once' }, keyHeader)
  const replayedResponse = await owner.post(`${base}/workflows`, { name: 'Once' }, keyHeader)
  assert.equal(replayedResponse.headers.get('idempotency-replayed'), 'true')
  assert.deepEqual(replayedResponse.body, firstResponse.body)
  assert.equal((await owner.post(`${base}/workflows`, { name: 'Other' }, keyHeader)).status, 422)
  const liveResponse = await owner.post(`/orgs/${orgId}/live/workflows`, { name: 'Once' }, keyHeader)
  const colleague = await signInMember(app, orgId, 'recruiter')
  const colleagueResponse = await colleague.post(`${base}/workflows`, { name: 'Once' }, keyHeader)
  assert.deepEqual([liveResponse.status, colleagueResponse.status], [201, 201])
  assert.equal(
    new Set([firstResponse, liveResponse, colleagueResponse].map(({ body }) => body.data.workflow_id)).size,
    3,
  )
  const responseWithoutKey = await owner.post(`${base}/campaigns`, { mandate_id: 'JM_01ARZ3NDEKTSV4RRFFQ69G5FAV' })
  assert.equal(responseWithoutKey.body.error.code, 'IDEMPOTENCY_KEY_REQUIRED')
})

test('every change is audited with its author', async () => {
  const { context, clock, orgId, owner, base } = await setUp()
  clock.advance(MINUTE)
  const createResponse = await owner.post(`${base}/workflows`, { name: 'Audited' })
  await owner.post(`${base}/workflows`, { name: '' })
  await owner.post(`${base}/workflows`, { name: 'Dry run' }, { 'x-dry-run': 'true' })
  const { items } = (await owner.get(`/orgs/${orgId}/audit?limit=1`)).body.data
  assert.equal(items[0].who, owner.email)
  assert.equal(items[0].action, 'POST /workflows')
  assert.equal(items[0].subject, createResponse.body.data.workflow_id)
  assert.equal(items[0].mode, 'test')
  assert.equal(items[0].request_id, createResponse.headers.get('x-request-id'))
  const eventId = await context.db.transaction((tx) =>
    recordEvent(tx, { orgId, mode: 'test' }, clock, 'mandate.ready', { mandate_id: 'JM_1' }),
  )
  assert.equal((await owner.post(`${base}/events/ack`, { event_ids: [eventId] })).body.data.acknowledged, 1)
  const [ack] = (await owner.get(`/orgs/${orgId}/audit?limit=1`)).body.data.items
  assert.deepEqual([ack.action, ack.who], ['POST /events/ack', owner.email])
  await context.db.asOwner(async ({ pool }) => {
    for (const statement of ["update audit_log set who = 'unknown'", 'delete from audit_log', 'truncate audit_log'])
      await assert.rejects(pool.query(statement), /only ever added to/, statement)
  })
})

test('while the service is off, members can read and only the operator can write', async () => {
  const { app, clock, api, orgId, owner, base } = await setUp()
  clock.advance(MINUTE)
  const operator = await signIn(app)
  assert.equal((await operator.put(`/operator/orgs/${orgId}/service`, { on: false })).body.data.service_off, true)
  assert.equal((await owner.get(`${base}/workflows`)).status, 200)
  const rejectedResponse = await owner.post(`${base}/workflows`, { name: 'Late' })
  assert.equal(rejectedResponse.body.error.code, 'SERVICE_DISABLED')
  const invitationResponse = await owner.post(`/orgs/${orgId}/members`, { email: 'late@example.com', role: 'viewer' })
  assert.equal(invitationResponse.body.error.code, 'SERVICE_DISABLED')
  assert.equal((await operator.post(`${base}/workflows`, { name: 'By the operator' })).status, 201)
  assert.equal((await api.get('/workflows')).status, 503)
  await operator.put(`/operator/orgs/${orgId}/service`, { on: true })
  assert.equal((await owner.post(`${base}/workflows`, { name: 'In time' })).status, 201)
})
