import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startApp, type TestApp } from '../../../test/support/app.ts'
import { ATS_CREDENTIALS, aPerson, connectAts, startAts, startReports } from '../../../test/support/ats/connection.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { signInMember } from '../../../test/support/console.ts'
import { createCampaignPartner } from '../../../test/support/partners.ts'
import { until } from '../../../test/support/until.ts'
import { HOUR, MINUTE } from '../../platform/clock.ts'
import { enforceRetention } from '../../privacy/retention/enforce.ts'
import { disconnect } from '../connections.ts'

const getApp = oncePerFile((t) => startApp(t))

const { signing_secret: SECRET, account_id: INTEGRATION } = ATS_CREDENTIALS

test('only webhooks with the signature of the connection are accepted', async () => {
  const app = await getApp()
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  const { connectionId } = await connectAts(app, partner.scope, 'kombo')
  const other = await connectAts(app, partner.scope, 'kombo', { input: { signing_secret: 'another-secret' } })
  const unfinished = await connectAts(app, partner.scope, 'kombo', { input: { signing_secret: undefined } })
  const ashby = await connectAts(app, partner.scope, 'ashby')
  const body = JSON.stringify(orderOf(mandate_id, 'order-1'))
  const signature = sign(body, SECRET)
  for (const [name, id, sent, signedBy] of [
    ['no signature', connectionId, body, undefined],
    ['empty signature', connectionId, body, ''],
    ['wrong secret', connectionId, body, sign(body, 'another-secret')],
    ['changed body', connectionId, `${body} `, signature],
    ['padded signature', connectionId, body, `${signature}=`],
    ['other connection', other.connectionId, body, signature],
    ['connection without a secret', unfinished.connectionId, body, signature],
    ['signed with an empty secret', unfinished.connectionId, body, sign(body, '')],
    ['other ATS', ashby.connectionId, body, signature],
    ['unknown connection', 'AC_01ARZ3NDEKTSV4RRFFQ69G5FAV', body, signature],
  ] as const) {
    const response = await send(app, id, sent, signedBy)
    assert.equal(response.status, 401, name)
    assert.match(response.body.message, /signature is missing or wrong/)
  }
  assert.equal((await partner.get('/credits')).body.data.balance, 1000)
  assert.equal((await send(app, connectionId, body, signature)).status, 200)
  assert.equal((await partner.get('/credits')).body.data.balance, 999)
  await app.context.db.transaction((tx) => disconnect(tx, app.context, partner.scope, connectionId))
  await app.context.keyring.refresh()
  assert.equal((await send(app, connectionId, body, signature)).status, 401)
})

test('other webhooks and orders of other integrations of the account are ignored, and invalid orders are rejected', async () => {
  const app = await getApp()
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  const { connectionId } = await connectAts(app, partner.scope, 'kombo')
  const order = orderOf(mandate_id, 'order-1')
  const sendSigned = (body: object) => send(app, connectionId, JSON.stringify(body), sign(JSON.stringify(body), SECRET))
  for (const body of [
    { id: 'w1', type: 'data-changed', data: { integration_id: INTEGRATION } },
    { ...order, data: { ...order.data, integration_id: 'workday:2' } },
  ])
    assert.deepEqual(await statusAndBody(sendSigned(body)), [200, {}])
  const invalid = await sendSigned({ ...order, data: { ...order.data, package_id: 7 } })
  assert.equal(invalid.status, 400, JSON.stringify(invalid.body))
  assert.equal((await partner.get('/credits')).body.data.balance, 1000)
  const candidate = { ...order.data.candidate, first_name: 'A'.repeat(300), phone: '1'.repeat(200) }
  const unusual = await sendSigned({ ...order, data: { ...order.data, candidate } })
  assert.equal(unusual.status, 200, JSON.stringify(unusual.body))
})

test('people of two integrations with the same ID are different', async () => {
  const app = await getApp()
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  const integrations = [INTEGRATION, 'workday:2']
  for (const [index, integration_id] of integrations.entries()) {
    const { connectionId } = await connectAts(app, partner.scope, 'kombo', { input: { account_id: integration_id } })
    const order = orderOf(mandate_id, 'order-1')
    const candidate = { ...order.data.candidate, remote_id: '1001', email: aPerson(index + 1, 6).email }
    const body = JSON.stringify({ ...order, data: { ...order.data, integration_id, candidate } })
    assert.equal((await send(app, connectionId, body, sign(body, SECRET))).status, 200)
  }
  assert.equal((await partner.get('/credits')).body.data.balance, 998)
})

test('the list of tests is sent when it changes, and again after an error', async (t) => {
  const app = await startApp(t)
  const { ats, partner, connectionId } = await startAts(t, app, 'kombo')
  const viewer = await signInMember(app, partner.orgId, 'viewer')
  const readChecks = async () =>
    (await viewer.get(`/orgs/${partner.orgId}/test/ats/connections/${connectionId}`)).body.data.checks
  let calls = 0
  let isFailing = true
  ats.react = ({ path }) => {
    if (path !== '/assessment/packages') return undefined
    calls++
    return isFailing ? { status: 503 } : undefined
  }
  const first = await partner.createMandate()
  startReports(t, app)
  await until(async () => /503/.test((await readChecks()).tests_error ?? ''))
  assert.equal((await readChecks()).tests_sent_at, null)
  isFailing = false
  app.clock.advance(HOUR)
  await until(async () => (await readChecks()).tests_sent_at)
  assert.equal((await readChecks()).tests_error, null)
  assert.deepEqual(await ids(), [first.mandate_id])

  const callsBefore = calls
  app.clock.advance(MINUTE)
  await until(async () => {
    const { rows } = await sql<{ tests_due_at: Date }>`
      select tests_due_at from ats_connections where connection_id = ${connectionId}`.execute(app.context.db.queries)
    return rows[0]!.tests_due_at.getTime() === app.clock.now() + MINUTE / 2
  })
  assert.equal(calls, callsBefore, 'an unchanged list is not sent')
  const second = await partner.createMandate()
  await until(async () => {
    app.clock.advance(MINUTE)
    return (await ids()).length === 2
  })
  assert.deepEqual(await ids(), [second.mandate_id, first.mandate_id])
  await partner.remove(`/mandates/${first.mandate_id}`)
  await until(async () => {
    app.clock.advance(MINUTE)
    return (await ids()).length === 1
  })
  assert.deepEqual(ats.violations, [])

  async function ids() {
    return (await ats.listTests()).map(({ id }) => id)
  }
})

test('a rejected order is shown with its name and payload, reported once, and does not name mandates of others', async (t) => {
  const app = await getApp()
  startReports(t, app)
  const { ats, partner, connectionId } = await startAts(t, app, 'kombo')
  const { mandate_id } = await partner.createMandate()
  await partner.remove(`/mandates/${mandate_id}`)
  const foreign = await (await createCampaignPartner(app)).createMandate()
  const archived = await ats.order('order-1', mandate_id, aPerson(1))
  await ats.order('order-1', mandate_id, aPerson(1))
  const unknown = await ats.order('order-2', foreign.mandate_id, aPerson(1))
  const unreachable = await ats.order('order-3', foreign.mandate_id, { ...aPerson(2), email: 'none' })
  await until(() => [archived, unknown, unreachable].every(({ state }) => state === 'CANCELLED'))
  const viewer = await signInMember(app, partner.orgId, 'viewer')
  const { items } = (await viewer.get(`/orgs/${partner.orgId}/test/ats/connections/${connectionId}/orders`)).body.data
  assert.deepEqual(
    items.map((each: any) => [each.candidate_name, each.state, each.mandate_id, each.test_name, each.reports.length]),
    [
      ['Person 2', 'rejected', null, 'Unknown test', 1],
      ['Person 1', 'rejected', null, 'Unknown test', 1],
      ['Person 1', 'rejected', mandate_id, 'Electrician, Metro Ltd', 1],
    ],
  )
  assert.match(items[2].summary, /archived in Attestry/)
  const [sent] = items[2].reports
  assert.deepEqual(
    [sent.state, sent.last_status, sent.last_request.method, sent.last_request.body.status],
    ['delivered', 200, 'PUT', 'CANCELLED'],
  )
  assert.equal(items[1].person_id, items[2].person_id, 'the address identifies the person')
  const report = await app.fetch(new URL((archived.result as { result_url: string }).result_url).pathname)
  assert.equal(report.status, 200)
  assert.match(report.body, /Person 1/)
  assert.deepEqual(ats.violations, [])
})

test('the people of rejected orders can be exported and erased, and are erased at the end of the retention period', async (t) => {
  const app = await startApp(t)
  startReports(t, app)
  const { ats, partner, connectionId } = await startAts(t, app, 'kombo')
  const { mandate_id } = await partner.createMandate()
  await partner.remove(`/mandates/${mandate_id}`)
  const known = await ats.order('order-1', mandate_id, aPerson(1))
  const unreachable = await ats.order('order-2', mandate_id, { ...aPerson(2), email: 'none' })
  await until(() => known.state === 'CANCELLED' && unreachable.state === 'CANCELLED')
  let viewer = await signInMember(app, partner.orgId, 'viewer')
  await until(async () => (await readOrders()).every((order: any) => order.reports[0].state === 'delivered'))
  const [second, first] = await readOrders()
  const found = await partner.get(`/people?email=${encodeURIComponent(aPerson(1).email)}`)
  assert.deepEqual(
    found.body.data.items.map((person: any) => person.person_id),
    [first.person_id],
  )
  const exported = await partner.get(`/people/${second.person_id}/export`)
  const section = exported.body.data.sections.find(({ name }: any) => name === 'orders')
  assert.deepEqual(
    section.records.map((record: any) => [record.order_id, record.name, record.state]),
    [[second.order_id, 'Person 2', 'rejected']],
  )
  const corrected = await partner.patch(`/people/${first.person_id}`, { name: 'Asha Verma' })
  assert.equal(corrected.status, 200, JSON.stringify(corrected.body))
  const erased = await partner.post(`/people/${second.person_id}/erase`, {
    basis: 'GDPR Article 17',
    requested_by: 'x',
  })
  assert.equal(erased.status, 200, JSON.stringify(erased.body))
  assert.deepEqual(await shownValues(), [
    ['erased', null],
    ['Asha Verma', 'PUT'],
  ])
  app.clock.advance(800 * 24 * HOUR)
  await enforceRetention(app.context)
  viewer = await signInMember(app, partner.orgId, 'viewer')
  assert.deepEqual(await shownValues(), [
    ['erased', null],
    ['erased', null],
  ])

  async function readOrders() {
    const path = `/orgs/${partner.orgId}/test/ats/connections/${connectionId}/orders`
    return (await viewer.get(path)).body.data.items
  }

  async function shownValues() {
    return (await readOrders()).map((order: any) => [
      order.candidate_name,
      order.reports[0].last_request?.method ?? null,
    ])
  }
})

test('a connection has no key, and shows which credential is still to be entered', async () => {
  const app = await getApp()
  const { orgId } = await createCampaignPartner(app)
  const owner = await signInMember(app, orgId, 'owner')
  const path = `/orgs/${orgId}/test/ats/connections`
  const input = { adapter: 'kombo', name: 'Kombo', country: 'IN', consent_basis: 'The candidate agreed.' }
  const incomplete = await owner.post(path, { ...input, token: 'key' })
  assert.deepEqual(
    incomplete.body.error.details.map((each: any) => each.path),
    ['account_id'],
  )
  const created = await owner.post(path, { ...input, token: 'key', account_id: INTEGRATION })
  const { connection_id, key, missing_credentials, endpoints } = created.body.data
  assert.deepEqual([key, missing_credentials], [null, ['Kombo webhook secret']])
  assert.match(endpoints[0].url, new RegExp(`/ats/kombo/orders/${connection_id}$`))
  const keys = await owner.post(`${path}/${connection_id}/keys`)
  assert.equal(keys.status, 409)
  assert.match(keys.body.error.message, /Kombo signs its calls and has no keys/)
  const { rows } = await sql<{ key_id: string }>`
    select key_id from ats_keys where connection_id = ${connection_id}`.execute(app.context.db.queries)
  const revoked = await owner.post(`${path}/${connection_id}/keys/${rows[0]!.key_id}/revoke`)
  assert.equal(revoked.status, 409)
  const changed = await owner.put(`${path}/${connection_id}`, { signing_secret: SECRET })
  assert.deepEqual(changed.body.data.missing_credentials, [])
  const wrong = await owner.post(path, { ...input, adapter: 'greenhouse', signing_secret: SECRET })
  assert.match(wrong.body.error.message, /is not used by Greenhouse/)
})

function orderOf(mandateId: string, id: string) {
  return {
    id: `webhook-${id}`,
    type: 'assessment:order-received',
    data: {
      id,
      package_id: mandateId,
      status: 'OPEN',
      integration_id: INTEGRATION,
      candidate: { remote_id: null, email: aPerson(1, 6).email, first_name: 'Asha', last_name: null, phone: null },
      application: { remote_id: null },
      job: { remote_id: null, name: null },
    },
  }
}

function sign(body: string, secret: string): string {
  return createHmac('sha256', secret).update(body).digest('base64url')
}

function send(app: TestApp, connectionId: string, body: string, signature: string | undefined) {
  return app.fetch(`/ats/kombo/orders/${connectionId}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(signature === undefined ? {} : { 'x-kombo-signature': signature }),
    },
    body,
  })
}

async function statusAndBody(response: ReturnType<typeof send>) {
  const { status, body } = await response
  return [status, body]
}
