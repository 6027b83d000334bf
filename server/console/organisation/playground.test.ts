import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { aMandate, prepareMandates, startApp } from '../../../test/support/app.ts'
import { memberOf, signIn } from '../../../test/support/console.ts'
import { partner } from '../../../test/support/partner.ts'
import { grantCredits } from '../../campaigns/credits.ts'
import { MINUTE } from '../../platform/clock.ts'

test('the partner API’s routes, for a person at the console', async (t) => {
  const app = await startApp(t)
  const { context, clock } = app
  const api = await partner(app, 'test')
  const { orgId } = api
  const owner = await memberOf(app, orgId, 'owner')
  const base = `/orgs/${orgId}/test`
  await context.db.transaction((tx) => grantCredits(tx, { orgId, mode: 'test' }, clock, 10))

  await t.test('a thing is changed where it was made', async () => {
    const here = (await owner.post(`${base}/workflows`, { name: 'By hand' })).body.data
    const there = (await api.post('/workflows', { name: 'By a program' })).body.data
    assert.deepEqual([here.created_via, there.created_via], ['playground', 'api'])
    assert.equal((await owner.get(`${base}/workflows/${there.workflow_id}`)).status, 200)
    assert.equal((await api.get(`/workflows/${here.workflow_id}`)).status, 200)

    const mine = await owner.put(`${base}/workflows/${here.workflow_id}`, { name: 'By hand, again' })
    assert.equal(mine.status, 200)
    const theirs = await owner.put(`${base}/workflows/${there.workflow_id}`, { name: 'Mine now' })
    assert.equal(theirs.status, 403)
    assert.match(theirs.body.error.message, /made through the API/)
    const taken = await api.put(`/workflows/${here.workflow_id}`, { name: 'Mine now' })
    assert.equal(taken.status, 403)
    assert.match(taken.body.error.message, /made in the playground/)

    const mandate = await api.post('/mandates', aMandate(there.workflow_id))
    await prepareMandates(context)
    const path = `/mandates/${mandate.body.data.mandate_id}`
    assert.equal((await owner.put(base + path, aMandate(there.workflow_id))).status, 403)
    assert.equal((await owner.delete(base + path)).status, 403)
    assert.equal((await owner.get(base + path)).body.data.status, 'ready')

    const endpoint = await api.post('/webhooks', { url: 'http://127.0.0.1:9999/' })
    assert.equal(endpoint.status, 201, JSON.stringify(endpoint.body))
    assert.equal((await owner.post(`${base}/webhooks/${endpoint.body.data.webhook_id}/disable`)).status, 403)
    const own = await owner.post(`${base}/webhooks`, { url: 'http://127.0.0.1:9999/' })
    assert.equal(own.body.data.created_via, 'playground')
    assert.equal((await owner.post(`${base}/webhooks/${own.body.data.webhook_id}/disable`)).status, 200)
  })

  await t.test('every campaign can be held back here, whoever made it', async () => {
    const { workflow_id } = (await api.post('/workflows', { name: 'By a program' })).body.data
    const { mandate_id } = (await api.post('/mandates', aMandate(workflow_id))).body.data
    await prepareMandates(context)
    const once = () => ({ 'idempotency-key': randomUUID() })
    const made = await api.post('/campaigns', { mandate_id }, { idempotencyKey: true })
    const path = `${base}/campaigns/${made.body.data.campaign.campaign_id}`
    assert.equal((await owner.post(`${path}/pause`)).status, 200)
    assert.equal((await owner.post(`${path}/resume`)).status, 200)
    const candidates = [{ external_candidate_id: 'c-1', name: 'Asha', phone: '+919812345678' }]
    assert.equal((await owner.post(`${path}/candidates`, { candidates }, once())).status, 403)
    assert.equal((await owner.delete(path)).body.data.status, 'archived')

    const own = await owner.post(`${base}/campaigns`, { mandate_id, candidates }, once())
    assert.equal(own.status, 202, JSON.stringify(own.body))
    assert.equal(own.body.data.campaign.created_via, 'playground')
    clock.advance(MINUTE)
    assert.equal((await api.post(`/campaigns/${own.body.data.campaign.campaign_id}/pause`)).status, 403)
  })

  await t.test('a dry run answers as in earnest, and keeps nothing', async () => {
    clock.advance(MINUTE)
    const dry = { 'x-dry-run': 'true' }
    const { workflow_id } = (await owner.post(`${base}/workflows`, { name: 'For trying' })).body.data
    const before = (await owner.get(`${base}/mandates`)).body.data.items.length
    const tried = await owner.post(`${base}/mandates`, aMandate(workflow_id), dry)
    assert.equal(tried.status, 202)
    assert.equal(tried.headers.get('x-dry-run'), 'true')
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
    assert.equal(ack.status, 400, 'where it cannot be tried, it is not done')
  })

  await t.test('Idempotency-Key works as in the API, for each person and organisation apart', async () => {
    clock.advance(MINUTE)
    const key = { 'idempotency-key': 'the same' }
    const first = await owner.post(`${base}/workflows`, { name: 'Once' }, key)
    const again = await owner.post(`${base}/workflows`, { name: 'Once' }, key)
    assert.equal(again.headers.get('idempotency-replayed'), 'true')
    assert.deepEqual(again.body, first.body)
    assert.equal((await owner.post(`${base}/workflows`, { name: 'Other' }, key)).status, 422)
    const live = await owner.post(`/orgs/${orgId}/live/workflows`, { name: 'Once' }, key)
    const colleague = await memberOf(app, orgId, 'recruiter')
    const theirs = await colleague.post(`${base}/workflows`, { name: 'Once' }, key)
    assert.deepEqual([live.status, theirs.status], [201, 201])
    assert.equal(new Set([first, live, theirs].map(({ body }) => body.data.workflow_id)).size, 3)
    const missing = await owner.post(`${base}/campaigns`, { mandate_id: 'JM_01ARZ3NDEKTSV4RRFFQ69G5FAV' })
    assert.equal(missing.body.error.code, 'IDEMPOTENCY_KEY_REQUIRED')
  })

  await t.test('every change is written down, with who made it', async () => {
    clock.advance(MINUTE)
    const made = await owner.post(`${base}/workflows`, { name: 'Noted' })
    await owner.post(`${base}/workflows`, { name: '' })
    await owner.post(`${base}/workflows`, { name: 'Only tried' }, { 'x-dry-run': 'true' })
    const { items } = (await owner.get(`/orgs/${orgId}/audit?limit=1`)).body.data
    assert.equal(items[0].who, owner.email)
    assert.equal(items[0].action, 'POST /workflows')
    assert.equal(items[0].subject, made.body.data.workflow_id)
    assert.equal(items[0].mode, 'test')
    assert.equal(items[0].request_id, made.headers.get('x-request-id'))
    const { pool } = context.db
    for (const statement of ["update audit_log set who = 'nobody'", 'delete from audit_log', 'truncate audit_log'])
      await assert.rejects(pool.query(statement), /only ever added to/, statement)
  })

  await t.test('what the operator switched off can be read, and changed by the operator alone', async () => {
    clock.advance(MINUTE)
    const operator = await signIn(app)
    assert.equal((await operator.put(`/operator/orgs/${orgId}/service`, { on: false })).body.data.service_off, true)
    assert.equal((await owner.get(`${base}/workflows`)).status, 200)
    const refused = await owner.post(`${base}/workflows`, { name: 'Late' })
    assert.equal(refused.body.error.code, 'SERVICE_DISABLED')
    const invited = await owner.post(`/orgs/${orgId}/members`, { email: 'late@example.com', role: 'viewer' })
    assert.equal(invited.body.error.code, 'SERVICE_DISABLED')
    assert.equal((await operator.post(`${base}/workflows`, { name: 'By the operator' })).status, 201)
    assert.equal((await api.get('/workflows')).status, 503)
    await operator.put(`/operator/orgs/${orgId}/service`, { on: true })
    assert.equal((await owner.post(`${base}/workflows`, { name: 'In time' })).status, 201)
  })
})
