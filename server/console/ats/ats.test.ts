import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startApp } from '../../../test/support/app.ts'
import { ATS_TOKEN, aPerson, startAts, startReports } from '../../../test/support/ats/connection.ts'
import { signInMember } from '../../../test/support/console.ts'
import { createCampaignPartner, passTime } from '../../../test/support/partners.ts'
import { until } from '../../../test/support/until.ts'

const CONNECTION = {
  adapter: 'ashby',
  name: 'Head office',
  country: 'IN',
  consent_basis: 'The candidate agreed in the application form.',
  token: ATS_TOKEN,
}

test('owners connect, change and disconnect an ATS; viewers only see it, and other organisations do not', async (t) => {
  const app = await startApp(t)
  const { orgId } = await createCampaignPartner(app)
  const other = await createCampaignPartner(app)
  const path = `/orgs/${orgId}/test/ats/connections`
  const owner = await signInMember(app, orgId, 'owner')
  const viewer = await signInMember(app, orgId, 'viewer')
  const stranger = await signInMember(app, other.orgId, 'owner')

  assert.equal((await viewer.post(path, CONNECTION)).status, 403)
  const missingToken = await owner.post(path, { ...CONNECTION, token: undefined })
  assert.equal(missingToken.status, 400)
  assert.equal(missingToken.body.error.details[0].path, 'token')
  for (const [invalid, message] of [
    [{ country: 'I1' }, 'must be a country code of ISO 3166-1, such as IN'],
    [{ token: 'two words' }, 'must be ASCII characters without spaces'],
  ] as const) {
    const { body } = await owner.post(path, { ...CONNECTION, ...invalid })
    assert.deepEqual(body.error.details, [{ path: Object.keys(invalid)[0], message }])
  }
  const created = await owner.post(path, CONNECTION)
  assert.equal(created.status, 201)
  const { connection_id, key, keys } = created.body.data
  assert.match(key, /^VAT_TEST_/)
  assert.doesNotMatch(JSON.stringify(created.body), new RegExp(ATS_TOKEN))

  const connection = `${path}/${connection_id}`
  assert.equal((await viewer.get(connection)).body.data.name, 'Head office')
  assert.doesNotMatch(JSON.stringify((await viewer.get(path)).body), new RegExp(key))
  assert.equal((await stranger.get(connection)).status, 404)
  const moved = connection.replace(orgId, other.orgId)
  assert.equal((await stranger.get(moved)).status, 404)
  assert.equal((await owner.get(connection.replace('/test/', '/live/'))).status, 404)

  const changed = await owner.put(connection, { mandate_ids: ['JM_01ARZ3NDEKTSV4RRFFQ69G5FAV'] })
  assert.equal(changed.status, 400)
  assert.match(changed.body.error.message, /is not a mandate of this organisation and mode/)
  assert.equal((await owner.put(connection, { country: 'GB' })).body.data.country, 'GB')

  const second = await owner.post(`${connection}/keys`)
  assert.equal(second.body.data.keys.length, 2)
  const revoked = await owner.post(`${connection}/keys/${keys[0].key_id}/revoke`)
  assert.deepEqual(revoked.body.data.keys.map((each: any) => [each.status, each.key_id === keys[0].key_id]).sort(), [
    ['active', false],
    ['revoked', true],
  ])
  await app.context.keyring.refresh()
  const list = (sentKey: string) =>
    app.fetch('/ats/ashby/assessment.list', { method: 'POST', headers: { authorization: `Bearer ${sentKey}` } })
  assert.equal((await list(key)).status, 401)
  assert.equal((await list(second.body.data.key)).status, 200)
  await until(async () => (await sql`select from key_uses`.execute(app.context.db.queries)).rows.length > 0)
  const { checks, keys: shownKeys } = (await viewer.get(connection)).body.data
  const lastUse = new Date(app.clock.now()).toISOString()
  assert.equal(checks.called_at, lastUse)
  assert.deepEqual(shownKeys.map((each: any) => each.last_used_at).sort(), [lastUse, null])

  assert.equal((await viewer.delete(connection)).status, 403)
  assert.equal((await owner.delete(connection)).body.data.state, 'disconnected')
  await app.context.keyring.refresh()
  assert.equal((await list(second.body.data.key)).status, 401)
  assert.equal((await owner.post(`${connection}/keys`)).status, 409)
})

test('recruiters see the orders of their organisation and send reports again', async (t) => {
  const app = await startApp(t)
  const { ats, partner, connectionId } = await startAts(t, app, 'workable')
  const { mandate_id } = await partner.createMandate()
  const { assessmentId } = await ats.order('order-1', mandate_id, aPerson(1, 6))
  const recruiter = await signInMember(app, partner.orgId, 'recruiter')
  await sql`delete from key_uses`.execute(app.context.db.queries)
  const { checks } = (await recruiter.get(`/orgs/${partner.orgId}/test/ats/connections/${connectionId}`)).body.data
  assert.deepEqual([checks.called_at !== null, checks.called_at], [true, checks.ordered_at], 'an order is a call')
  const path = `/orgs/${partner.orgId}/test/ats`
  const { body } = await recruiter.get(`${path}/connections/${connectionId}/orders`)
  assert.equal(body.data.items[0].order_id, assessmentId)
  assert.equal(body.data.items[0].state, 'ordered')
  assert.equal(body.data.items[0].test_name, 'Electrician, Metro Ltd')
  const early = await recruiter.post(`${path}/orders/${assessmentId}/replay`)
  assert.equal(early.status, 409)
  assert.match(early.body.error.message, /neither started nor ended/)
  const other = await createCampaignPartner(app)
  const stranger = await signInMember(app, other.orgId, 'owner')
  assert.equal((await stranger.post(`/orgs/${other.orgId}/test/ats/orders/${assessmentId}/replay`)).status, 404)
  await partner.remove(`/campaigns/${body.data.items[0].campaign_id}`)
  assert.equal((await partner.remove(`/mandates/${mandate_id}`)).status, 200)
  const withArchivedJob = await recruiter.get(`${path}/connections/${connectionId}/orders`)
  assert.equal(withArchivedJob.body.data.items[0].test_name, 'Electrician, Metro Ltd')
})

test('the checks of a connection show that the last report was not accepted, also after accepted ones', async (t) => {
  const app = await startApp(t)
  startReports(t, app)
  const { ats, partner, connectionId } = await startAts(t, app, 'workable')
  const { mandate_id } = await partner.createMandate()
  const viewer = await signInMember(app, partner.orgId, 'viewer')
  const readChecks = async () =>
    (await viewer.get(`/orgs/${partner.orgId}/test/ats/connections/${connectionId}`)).body.data.checks
  const first = await ats.order('order-1', mandate_id, aPerson(1))
  await passTime(app, 10_000)
  await until(() => first.state === 'completed')
  await until(async () => (await readChecks()).reported_at)
  assert.equal((await readChecks()).report_error, null)

  ats.react = () => ({ status: 404 })
  await ats.order('order-2', mandate_id, aPerson(2))
  await passTime(app, 10_000)
  await until(async () => (await readChecks()).report_error)
  assert.match((await readChecks()).report_error, /404/)
  ats.react = () => undefined
  await ats.order('order-3', mandate_id, aPerson(3))
  await passTime(app, 10_000)
  await until(async () => (await readChecks()).report_error === null)
})
