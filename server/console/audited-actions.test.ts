import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../test/support/app.ts'
import { decodeBase32 } from '../../test/support/base32.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { type ConsoleUser, signIn, signInMember } from '../../test/support/console.ts'
import { CLIENT, startIdentityProvider } from '../../test/support/identity-provider.ts'
import { aCandidate, createCampaignPartner, createPartner } from '../../test/support/partners.ts'
import { startProvider, TWILIO } from '../../test/support/provider.ts'
import { verificationCalls } from '../../test/support/verification.ts'
import { contactNow } from '../campaigns/contact/engine.ts'
import { saveCredentials } from '../channels/credentials.ts'
import { queueEmail } from '../mail/mail.ts'
import { HOUR, MINUTE } from '../platform/clock.ts'
import { addMember } from './auth/members.ts'
import { totpAt } from './second-factors/totp.ts'

const startSharedApp = oncePerFile((t) => startApp(t))

/** Returns the shared server an hour later, when all rate limits have been reset. */
async function setUp() {
  const app = await startSharedApp()
  app.clock.advance(HOUR)
  const { orgId } = await app.fixtures.createOrg()
  const owner = await signInMember(app, orgId, 'owner')
  const operator = await signIn(app)

  /** Makes a request, and returns the data of the response and the entry of the audit log about it. */
  async function record(user: ConsoleUser, method: string, path: string, body?: unknown) {
    const [before] = await newestEntries()
    const response = await user.call(method, path, body)
    assert.ok(response.status < 300, `${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`)
    const [entry, previous] = await newestEntries()
    assert.equal(previous?.audit_id, before?.audit_id, `${method} ${path}: one entry`)
    assert.deepEqual([entry.who, entry.request_id], [user.email, response.headers.get('x-request-id')])
    return { data: response.body.data, entry, logged: [entry.action, entry.subject, entry.details] }
  }

  /** Makes a request that fails, and checks that it is not in the audit log. */
  async function refuse(user: ConsoleUser, method: string, path: string, body: unknown, status: number) {
    const [before] = await newestEntries()
    const response = await user.call(method, path, body)
    assert.equal(response.status, status, `${method} ${path}: ${JSON.stringify(response.body)}`)
    assert.equal((await newestEntries())[0]?.audit_id, before?.audit_id, `${method} ${path}`)
    return response.body.error
  }

  async function newestEntries(): Promise<any[]> {
    return (await operator.get('/operator/audit?limit=2')).body.data.items
  }
  return { app, orgId, owner, operator, record, refuse }
}

test('setting up and removing the check of numbers and test messages are recorded', async (t) => {
  // The first test of this file: test messages are sent only within contact hours.
  const { app, orgId, owner, record, refuse } = await setUp()
  const { context } = app
  const path = `/orgs/${orgId}/dnd-check`
  const url = 'https://dnd.example.com/check'
  app.context.config.webhookAllow.push('dnd.example.com')
  const set = await record(owner, 'PUT', path, { url })
  assert.deepEqual(set.logged, ['dnd-check.set', null, { url }])
  assert.deepEqual((await record(owner, 'DELETE', path)).logged, ['dnd-check.remove', null, {}])
  await refuse(owner, 'DELETE', path, undefined, 404)
  const provider = await startProvider(t)
  const credentials = { ...TWILIO, from: '+14155550100', base_url: provider.url }
  await context.db.transaction((tx) => saveCredentials(tx, context.vault, app.clock, orgId, 'sms', credentials))
  await refuse(owner, 'POST', `/orgs/${orgId}/channels/sms/test`, { to: 'nobody' }, 400)
  const tested = await record(owner, 'POST', `/orgs/${orgId}/channels/sms/test`, { to: '+14155550101' })
  assert.deepEqual(tested.logged, ['channel.test', null, { channel: 'sms' }])
  assert.equal(provider.received.length, 1)
})

test('changes of privacy settings, retention periods and legal holds are recorded', async () => {
  const { orgId, owner, operator, record, refuse, app } = await setUp()
  const path = `/orgs/${orgId}/privacy`
  const settings = await record(owner, 'PUT', path, { grievance_name: 'Meera Nair', link_days: 7 })
  assert.deepEqual(settings.logged, ['privacy.settings', orgId, { fields: ['grievance_name', 'link_days'] }])

  const hold = await record(owner, 'PUT', `${path}/hold`, { reason: 'Lawsuit 12/2026' })
  assert.deepEqual(hold.logged, ['privacy.hold', orgId, { reason: 'Lawsuit 12/2026' }])
  app.clock.advance(MINUTE)
  const changed = await record(owner, 'PUT', `${path}/hold`, { reason: 'Lawsuit 13/2026' })
  assert.equal(changed.data.legal_hold_reason, 'Lawsuit 13/2026')
  assert.equal(changed.data.legal_hold_at, hold.data.legal_hold_at, 'the hold began with the first reason')
  const ended = await record(owner, 'PUT', `${path}/hold`, { reason: null })
  assert.deepEqual([ended.data.legal_hold_reason, ended.data.legal_hold_at], [null, null])

  const retention = await record(owner, 'PUT', `/orgs/${orgId}/retention`, { mails: 90 })
  assert.deepEqual(retention.logged, ['privacy.retention', orgId, { mails: 90 }])
  await refuse(owner, 'PUT', `/orgs/${orgId}/retention`, { mails: 1 }, 400)

  const boundsPath = '/operator/retention-bounds'
  const bound = { min_days: 10, max_days: 400 }
  const bounds = await record(operator, 'PUT', boundsPath, { class: 'mails', bound })
  assert.deepEqual(bounds.logged, ['retention.bounds', 'mails', bound])
  const reset = await record(operator, 'PUT', boundsPath, { class: 'mails', bound: null })
  assert.deepEqual(reset.logged, ['retention.bounds', 'mails', {}])
})

test('the declaration of a contact basis keeps its time until it is changed', async () => {
  const { app, orgId, owner } = await setUp()
  const declare = async (source: string, version: string) => {
    const response = await owner.put(`/orgs/${orgId}/privacy`, {
      contact_basis: 'application',
      contact_basis_source: source,
      contact_basis_text_version: version,
    })
    assert.equal(response.status, 200, JSON.stringify(response.body))
    app.clock.advance(1000)
    return response.body.data.contact_basis_declared_at
  }
  const declaredAt = await declare('form on example.com', '1')
  assert.equal(await declare('form on example.com', '1'), declaredAt)
  const otherSource = await declare('form on example.org', '1')
  assert.ok(otherSource > declaredAt)
  assert.ok((await declare('form on example.org', '2')) > otherSource)
})

test('changes of members and operators are recorded', async () => {
  const { app, orgId, owner, operator, record, refuse } = await setUp()
  const email = 'colleague@example.com'
  const { member_id } = await app.context.db.transaction((tx) =>
    addMember(tx, app.clock, orgId, { email, role: 'viewer' }),
  )
  const changed = await record(owner, 'PUT', `/orgs/${orgId}/members/${member_id}`, { role: 'recruiter' })
  assert.deepEqual(changed.logged, ['member.change', member_id, { email, role: 'recruiter' }])

  const invited = await record(owner, 'POST', `/orgs/${orgId}/members/${member_id}/invite`)
  assert.deepEqual(invited.logged, ['member.invite', member_id, { email }])

  const added = await record(operator, 'POST', '/operator/operators', { email: 'second@example.com' })
  const { operator_id } = added.data
  const removed = await record(operator, 'DELETE', `/operator/operators/${operator_id}`)
  assert.deepEqual(removed.logged, ['operator.remove', operator_id, { email: 'second@example.com' }])
  await refuse(operator, 'DELETE', `/operator/operators/${operator_id}`, undefined, 404)
})

test('the service of an organisation and of all is switched with a reason, which is recorded', async () => {
  const { orgId, operator, record } = await setUp()
  for (const [path, subject] of [
    [`/operator/orgs/${orgId}/service`, orgId],
    ['/operator/service', null],
  ] as const) {
    const off = await record(operator, 'PUT', path, { on: false, reason: 'Unpaid invoice' })
    assert.deepEqual([off.entry.action, off.entry.subject], ['service.off', subject])
    assert.equal(off.entry.details.reason, 'Unpaid invoice')
    const on = await record(operator, 'PUT', path, { on: true })
    assert.deepEqual([on.entry.action, on.entry.subject], ['service.on', subject])
  }
})

test('views that are saved and deleted are recorded', async () => {
  const { app, orgId, owner, record, refuse } = await setUp()
  const viewer = await signInMember(app, orgId, 'viewer')
  const body = { page: 'results', name: ' Hot leads ', query: 'status=completed' }
  await refuse(viewer, 'POST', `/orgs/${orgId}/views`, body, 403)
  const saved = await record(owner, 'POST', `/orgs/${orgId}/views`, body)
  const { view_id } = saved.data
  assert.deepEqual(saved.logged, ['view.save', view_id, { name: 'Hot leads' }])
  const deleted = await record(owner, 'DELETE', `/orgs/${orgId}/views/${view_id}`)
  assert.deepEqual(deleted.logged, ['view.delete', view_id, { name: 'Hot leads' }])
  await refuse(owner, 'DELETE', `/orgs/${orgId}/views/${view_id}`, undefined, 404)
})

test('the policy for credentials is recorded as it is after the change', async () => {
  const { orgId, owner, record } = await setUp()
  const path = `/orgs/${orgId}/credential-policy`
  const changed = await record(owner, 'PUT', path, { credential_validity_months: 7 })
  const { credentials_enabled } = (await owner.get(path)).body.data
  assert.deepEqual(changed.logged, ['credential.policy', orgId, { credentials_enabled, credential_validity_months: 7 }])
})

test('decisions about skill requests are recorded with the skill and the reason', async () => {
  const { app, operator, record, refuse } = await setUp()
  const { post } = await createPartner(app)
  const ask = async (name: string) => (await post('/skill-requests', { name })).body.data.request_id
  const [approvedId, rejectedId] = [await ask('Bamboo bridge tying'), await ask('Snake milking')]
  const path = (id: string) => `/operator/skill-requests/${id}`
  const approved = await record(operator, 'POST', `${path(approvedId)}/approve`, { same_as: 'sk_2001' })
  const { skill_id, name } = approved.data
  assert.equal(skill_id, 'sk_2001')
  assert.deepEqual(approved.logged, ['skill_request.approve', approvedId, { skill_id, name, same_as: skill_id }])
  const rejected = await record(operator, 'POST', `${path(rejectedId)}/reject`, { reason: 'Not a job skill' })
  assert.deepEqual(rejected.logged, [
    'skill_request.reject',
    rejectedId,
    { name: 'Snake milking', reason: 'Not a job skill' },
  ])
  await refuse(operator, 'POST', `${path(rejectedId)}/reject`, {}, 409)
})

test('exports and lists of people are recorded before the first row is sent', async () => {
  const { orgId, owner, operator, record, refuse } = await setUp()
  const responses = await record(owner, 'GET', `/orgs/${orgId}/test/export/responses.csv`)
  assert.deepEqual(responses.logged, ['responses.export', null, {}])
  const exported = await record(operator, 'GET', `/operator/orgs/${orgId}/export.ndjson`)
  assert.deepEqual(exported.logged, ['org.export', orgId, {}])
  const list = await record(operator, 'GET', `/operator/breach-list.csv?org=${orgId}&tables=candidates&ids=CD_1,CD_2`)
  assert.deepEqual([list.entry.action, list.entry.subject], ['breach.list', orgId])
  assert.deepEqual([list.entry.details.tables, list.entry.details.ids], [['candidates'], 2])
  await refuse(operator, 'GET', '/operator/breach-list.csv?tables=candidates,photos', undefined, 400)
})

test('replies on the simulated phone are recorded, without the text', async () => {
  const { app, record } = await setUp()
  const partner = await createCampaignPartner(app, { mode: 'test' })
  const owner = await signInMember(app, partner.orgId, 'owner')
  const { mandate_id } = await partner.createMandate()
  const { campaign } = await partner.createCampaign(mandate_id, [aCandidate(1)])
  await contactNow(app.context)
  const phones = `/orgs/${partner.orgId}/test/phone`
  const { items } = (await owner.get(`${phones}?campaign_id=${campaign.campaign_id}`)).body.data
  const id = items[0].candidate_id

  const { logged } = await record(owner, 'POST', `${phones}/${id}/reply`, { text: 'stop', client_id: 'reply-1' })
  assert.deepEqual(logged, ['phone.reply', id, {}])
})

test('the authenticator app, confirmations and the end of all sessions are recorded', async () => {
  const { app, owner, operator, record, refuse } = await setUp()
  const setUpApp = (await owner.post('/account/authenticator-app')).body.data
  await refuse(owner, 'POST', '/account/authenticator-app/confirm', { code: '000000' }, 400)
  const code = () => totpAt(decodeBase32(setUpApp.secret), app.clock.now())
  const added = await record(owner, 'POST', '/account/authenticator-app/confirm', { code: code() })
  assert.deepEqual(added.logged, ['authenticator_app.add', null, {}])

  app.clock.advance(HOUR)
  assert.equal((await owner.post('/confirmation', { code: '000000' })).status, 400)
  const [failure] = (await operator.get('/operator/audit?limit=1')).body.data.items
  assert.deepEqual(
    [failure.action, failure.details],
    ['session.confirm_fail', { reason: 'wrong or expired code', email: owner.email }],
  )
  assert.deepEqual((await record(owner, 'POST', '/confirmation', { code: code() })).logged, [
    'session.confirm',
    null,
    {},
  ])
  const removed = await record(owner, 'DELETE', '/account/authenticator-app')
  assert.deepEqual(removed.logged, ['authenticator_app.remove', null, {}])

  const other = await signIn(app, owner.email)
  assert.equal((await record(owner, 'POST', '/sign-out/everywhere')).entry.action, 'session.end_all')
  assert.deepEqual([(await owner.get('/session')).status, (await other.get('/session')).status], [401, 401])
})

test('the identity provider and its SCIM token are recorded', async (t) => {
  const { app, orgId, record, refuse } = await setUp()
  const idp = await startIdentityProvider(t, app.url, orgId)
  const owner = await signInMember(app, orgId, 'owner', 'audited-owner@metro.example')
  const path = `/orgs/${orgId}/identity-provider`
  const settings = { allowed_domains: ['metro.example'], default_role: 'viewer' }
  await refuse(owner, 'POST', `${path}/scim-token`, undefined, 409)
  const saved = await record(owner, 'PUT', path, { name: 'Metro ID', issuer: idp.issuer, ...CLIENT, ...settings })
  const { provider_id, client_id } = saved.data.provider
  assert.deepEqual(saved.logged, [
    'identity_provider.save',
    provider_id,
    { issuer: idp.issuer, client_id, allowed_domains: ['metro.example'], required: false },
  ])
  const token = await record(owner, 'POST', `${path}/scim-token`)
  assert.deepEqual(token.logged, ['scim_token.create', provider_id, {}])
  assert.deepEqual((await record(owner, 'DELETE', `${path}/scim-token`)).logged, ['scim_token.revoke', null, {}])
  await refuse(owner, 'DELETE', `${path}/scim-token`, undefined, 404)
  const removed = await record(owner, 'DELETE', path)
  assert.deepEqual(removed.logged, ['identity_provider.remove', provider_id, { issuer: idp.issuer }])
  await refuse(owner, 'DELETE', path, undefined, 404)
})

test('a review request that is resent, and a restriction that is lifted, are recorded', async () => {
  const { app, orgId, owner, operator, record } = await setUp()
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId, 'test'))
  const { session } = await calls.requestReview()
  app.clock.advance(HOUR)
  const resent = await record(owner, 'POST', `/orgs/${orgId}/test/verifications/${session.id}/resend`)
  assert.deepEqual(resent.logged, ['verification.resend', session.id, {}])

  const partner = await createPartner(app, 'test', orgId)
  const { person_id } = (await partner.get('/people?email=asha%40example.com')).body.data.items[0]
  for (const [action, status] of [
    ['restrict', 'restricted'],
    ['unrestrict', 'active'],
  ]) {
    const response = await partner.post(`/people/${person_id}/${action}`, {
      basis: 'GDPR Article 18',
      requested_by: 'data subject',
    })
    assert.equal(response.body.data?.status, status, JSON.stringify(response.body))
    const [entry] = (await operator.get('/operator/audit?limit=1')).body.data.items
    assert.deepEqual([entry.action, entry.subject, entry.org_id], [`person.${action}`, person_id, orgId])
    assert.equal(entry.details.basis, 'GDPR Article 18')
  }
})

test('reading and changing the data of a person is recorded, without the values', async () => {
  const { app, orgId, owner, operator, record, refuse } = await setUp()
  await verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId, 'test')).requestReview()
  const partner = await createPartner(app, 'test', orgId)
  const logged = async (response: { status: number; body: any }) => {
    assert.equal(response.status, 200, JSON.stringify(response.body))
    const [entry] = (await operator.get('/operator/audit?limit=1')).body.data.items
    assert.deepEqual([entry.org_id, entry.mode, entry.who], [orgId, 'test', partner.key.keyId])
    return [entry.action, entry.subject, entry.details]
  }
  const found = await partner.get('/people?email=asha%40example.com')
  const { person_id: id } = found.body.data.items[0]
  assert.deepEqual(await logged(found), ['person.find', null, { found: [id] }])
  assert.deepEqual(await logged(await partner.get('/people?email=nobody%40example.com')), [
    'person.find',
    null,
    { found: [] },
  ])
  for (const [query, format] of [
    ['', 'json'],
    ['?format=html', 'html'],
  ]) {
    const exported = await partner.get(`/people/${id}/export${query}`)
    assert.deepEqual(await logged(exported), ['person.export', id, { format }])
  }
  const reason = { basis: 'GDPR Article 16', requested_by: 'data subject' }
  const corrected = await partner.patch(`/people/${id}`, { name: 'Asha Rao-Iyer', ...reason })
  assert.deepEqual(await logged(corrected), ['person.correct', id, { fields: ['name'], ...reason }])

  const path = `/orgs/${orgId}/test/people/${id}/hold`
  const held = await record(owner, 'PUT', path, { reason: 'Lawsuit 14/2026' })
  assert.deepEqual(held.logged, ['person.hold', id, { reason: 'Lawsuit 14/2026' }])
  await refuse(owner, 'PUT', `/orgs/${orgId}/live/people/${id}/hold`, { reason: 'Lawsuit' }, 404)
  assert.deepEqual((await record(owner, 'PUT', path, { reason: null })).logged, ['person.hold', id, { reason: null }])
})

test('a job that is queued again is recorded', async () => {
  const { app, operator, record, refuse } = await setUp()
  const { context } = app
  await context.db.transaction((tx) =>
    queueEmail(tx, context, {
      kind: 'notice',
      to: { address: 'a@example.com' },
      subject: 'News',
      text: 'Hello',
      html: '<p>Hello</p>',
    }),
  )
  const [{ job_id }] = (await operator.get('/operator/jobs?state=waiting&queue=send-mail')).body.data.items
  const path = `/operator/jobs/send-mail/${job_id}/retry`
  await refuse(operator, 'POST', path, undefined, 409)
  await context.db.pool.query("update pgboss.job set state = 'failed' where id = $1", [job_id])
  assert.deepEqual((await record(operator, 'POST', path)).logged, ['job.retry', job_id, { queue: 'send-mail' }])
})
