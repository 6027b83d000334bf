import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { aMandate, prepareMandates, startApp } from '../../../test/support/app.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { signIn, signInMember } from '../../../test/support/console.ts'
import { partner } from '../../../test/support/partners.ts'
import { grantCredits } from '../../campaigns/credits.ts'
import { MINUTE } from '../../platform/clock.ts'

const startShared = oncePerFile((t) => startApp(t))

async function setUp() {
  const app = await startShared()
  const { context, clock } = app
  const api = await partner(app, 'test')
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
  const own = await owner.post(`${base}/webhooks`, { url: 'http://127.0.0.1:9999/' })
  assert.equal(own.body.data.created_via, 'playground')
  assert.equal((await owner.post(`${base}/webhooks/${own.body.data.webhook_id}/disable`)).status, 200)
})

test('every campaign can be paused and archived in the console', async () => {
  const { context, clock, api, owner, base } = await setUp()
  const { workflow_id } = (await api.post('/workflows', { name: 'By a program' })).body.data
  const { mandate_id } = (await api.post('/mandates', aMandate(workflow_id))).body.data
  await prepareMandates(context)
  const withIdempotencyKey = () => ({ 'idempotency-key': randomUUID() })
  const created = await api.post('/campaigns', { mandate_id }, { idempotencyKey: true })
  const path = `${base}/campaigns/${created.body.data.campaign.campaign_id}`
  assert.equal((await owner.post(`${path}/pause`)).status, 200)
  assert.equal((await owner.post(`${path}/resume`)).status, 200)
  const candidates = [{ external_candidate_id: 'c-1', name: 'Asha', phone: '+919812345678' }]
  assert.equal((await owner.post(`${path}/candidates`, { candidates }, withIdempotencyKey())).status, 403)
  assert.equal((await owner.delete(path)).body.data.status, 'archived')

  const own = await owner.post(`${base}/campaigns`, { mandate_id, candidates }, withIdempotencyKey())
  assert.equal(own.status, 202, JSON.stringify(own.body))
  assert.equal(own.body.data.campaign.created_via, 'playground')
  clock.advance(MINUTE)
  assert.equal((await api.post(`/campaigns/${own.body.data.campaign.campaign_id}/pause`)).status, 403)
})

test('a dry run returns the usual response and stores nothing', async () => {
  const { context, clock, owner, base } = await setUp()
  clock.advance(MINUTE)
  const dry = { 'x-dry-run': 'true' }
  const { workflow_id } = (await owner.post(`${base}/workflows`, { name: 'For dry runs' })).body.data
  const before = (await owner.get(`${base}/mandates`)).body.data.items.length
  const dryRun = await owner.post(`${base}/mandates`, aMandate(workflow_id), dry)
  assert.equal(dryRun.status, 202)
  assert.equal(dryRun.headers.get('x-dry-run'), 'true')
  const wrong = await owner.post(`${base}/mandates`, { ...aMandate(workflow_id), salary: { min: 2, max: 1 } }, dry)
  assert.equal(wrong.status, 400)
  assert.equal((await owner.get(`${base}/mandates`)).body.data.items.length, before)

  const { mandate_id } = (await owner.post(`${base}/mandates`, aMandate(workflow_id))).body.data
  await prepareMandates(context)
  const candidates = ['+919812345678', '12', '+919812345679'].map((phone, index) => {
    return { external_candidate_id: `c-${index}`, name: 'Asha', phone }
  })
  const rows = await owner.post(`${base}/campaigns`, { mandate_id, candidates }, dry)
  assert.deepEqual(
    rows.body.error.details.map(({ path }: { path: string }) => path),
    ['candidates[1].phone'],
  )
  const { balance } = (await owner.get(`${base}/credits`)).body.data
  const good = await owner.post(`${base}/campaigns`, { mandate_id, candidates: [candidates[0]] }, dry)
  assert.equal(good.body.data.enrolment.credits_left, balance - 1)
  assert.equal((await owner.get(`${base}/credits`)).body.data.balance, balance)
  const ack = await owner.post(`${base}/events/ack`, { event_ids: ['EV_01ARZ3NDEKTSV4RRFFQ69G5FAV'] }, dry)
  assert.equal(ack.status, 400, 'routes without a dry run reject it')
})

test('Idempotency-Key works as in the API, separately for each member and organisation', async () => {
  const { app, clock, orgId, owner, base } = await setUp()
  clock.advance(MINUTE)
  const key = { 'idempotency-key': 'the same' }
  const first = await owner.post(`${base}/workflows`, { name: 'Once' }, key)
  const replayed = await owner.post(`${base}/workflows`, { name: 'Once' }, key)
  assert.equal(replayed.headers.get('idempotency-replayed'), 'true')
  assert.deepEqual(replayed.body, first.body)
  assert.equal((await owner.post(`${base}/workflows`, { name: 'Other' }, key)).status, 422)
  const live = await owner.post(`/orgs/${orgId}/live/workflows`, { name: 'Once' }, key)
  const colleague = await signInMember(app, orgId, 'recruiter')
  const theirs = await colleague.post(`${base}/workflows`, { name: 'Once' }, key)
  assert.deepEqual([live.status, theirs.status], [201, 201])
  assert.equal(new Set([first, live, theirs].map(({ body }) => body.data.workflow_id)).size, 3)
  const missing = await owner.post(`${base}/campaigns`, { mandate_id: 'JM_01ARZ3NDEKTSV4RRFFQ69G5FAV' })
  assert.equal(missing.body.error.code, 'IDEMPOTENCY_KEY_REQUIRED')
})

test('every change is audited with its author', async () => {
  const { context, clock, orgId, owner, base } = await setUp()
  clock.advance(MINUTE)
  const created = await owner.post(`${base}/workflows`, { name: 'Audited' })
  await owner.post(`${base}/workflows`, { name: '' })
  await owner.post(`${base}/workflows`, { name: 'Dry run' }, { 'x-dry-run': 'true' })
  const { items } = (await owner.get(`/orgs/${orgId}/audit?limit=1`)).body.data
  assert.equal(items[0].who, owner.email)
  assert.equal(items[0].action, 'POST /workflows')
  assert.equal(items[0].subject, created.body.data.workflow_id)
  assert.equal(items[0].mode, 'test')
  assert.equal(items[0].request_id, created.headers.get('x-request-id'))
  const { pool } = context.db
  for (const statement of ["update audit_log set who = 'unknown'", 'delete from audit_log', 'truncate audit_log'])
    await assert.rejects(pool.query(statement), /only ever added to/, statement)
})

test('while the service is off, members can read and only the operator can write', async () => {
  const { app, clock, api, orgId, owner, base } = await setUp()
  clock.advance(MINUTE)
  const operator = await signIn(app)
  assert.equal((await operator.put(`/operator/orgs/${orgId}/service`, { on: false })).body.data.service_off, true)
  assert.equal((await owner.get(`${base}/workflows`)).status, 200)
  const rejected = await owner.post(`${base}/workflows`, { name: 'Late' })
  assert.equal(rejected.body.error.code, 'SERVICE_DISABLED')
  const invited = await owner.post(`/orgs/${orgId}/members`, { email: 'late@example.com', role: 'viewer' })
  assert.equal(invited.body.error.code, 'SERVICE_DISABLED')
  assert.equal((await operator.post(`${base}/workflows`, { name: 'By the operator' })).status, 201)
  assert.equal((await api.get('/workflows')).status, 503)
  await operator.put(`/operator/orgs/${orgId}/service`, { on: true })
  assert.equal((await owner.post(`${base}/workflows`, { name: 'In time' })).status, 201)
})
