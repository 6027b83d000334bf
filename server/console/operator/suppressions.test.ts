import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../../test/support/app.ts'
import { signIn, signInMember } from '../../../test/support/console.ts'
import { outcomeOf, verificationCalls } from '../../../test/support/verification.ts'

test('operators manage suppressed mailboxes; the list has no addresses, and changes are audited', async (t) => {
  const app = await startApp(t)
  const { orgId } = await app.fixtures.createOrg()
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId))
  const operator = await signIn(app)

  const created = await operator.post('/operator/suppressions', { email: 'Ravi.Menon@gmail.com' })
  assert.equal(created.status, 201)
  const { suppression_id } = created.body.data
  assert.equal((await operator.post('/operator/suppressions', { email: 'ravimenon+1@gmail.com' })).status, 409)
  assert.equal((await operator.post('/operator/suppressions', { email: 'nobody' })).status, 400)
  const list = (await operator.get('/operator/suppressions')).body.data
  assert.deepEqual(
    list.items.map(({ reason, audience, org_id }: any) => [reason, audience, org_id]),
    [['operator', 'all', null]],
  )
  assert.doesNotMatch(JSON.stringify(list), /ravi/i)
  const session = await calls.openPreparedSession('human')
  const storeReviewer = () => calls.storeReviewer(session, { email: 'ravi.menon@googlemail.com' })
  assert.equal(outcomeOf(await storeReviewer()), '409 REVIEWER_UNREACHABLE')

  for (const role of ['viewer', 'recruiter', 'owner'] as const) {
    const member = await signInMember(app, orgId, role)
    assert.equal((await member.get('/operator/suppressions')).status, 403)
    assert.equal((await member.post('/operator/suppressions', { email: 'a@example.com' })).status, 403)
    assert.equal((await member.delete(`/operator/suppressions/${suppression_id}`)).status, 403)
  }
  assert.equal((await operator.delete(`/operator/suppressions/${suppression_id}`)).status, 200)
  assert.equal((await operator.delete(`/operator/suppressions/${suppression_id}`)).status, 404)
  assert.equal(outcomeOf(await storeReviewer()), '200')

  const audit = (await operator.get('/operator/audit')).body.data.items
  assert.deepEqual(
    audit.filter(({ action }: any) => action.startsWith('mail.')).map(({ action, subject }: any) => [action, subject]),
    [
      ['mail.unsuppress', suppression_id],
      ['mail.suppress', suppression_id],
    ],
  )
})

test('the console shows why an email was not sent', async (t) => {
  const app = await startApp(t)
  const { orgId } = await app.fixtures.createOrg()
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId, 'test'))
  const { session } = await calls.requestReview()
  const operator = await signIn(app)
  const [email] = (await operator.get('/operator/mails')).body.data.items
  assert.deepEqual([email.status, email.status_reason], ['kept', 'test_mode'])
  assert.match(email.explanation, /^TEST emails are stored, not sent/)
  const viewer = await signInMember(app, orgId, 'viewer')
  const { mails } = (await viewer.get(`/orgs/${orgId}/test/verifications/${session.id}`)).body.data
  assert.match(mails[0].explanation, /^TEST emails are stored, not sent/)
})
