import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../test/support/app.ts'
import { signInMember } from '../../test/support/console.ts'
import { BRICKLAYING, verificationCalls } from '../../test/support/verification.ts'
import { readEmailCode } from '../../test/support/your-data.ts'
import { SECOND } from '../platform/clock.ts'
import { LANGUAGES } from '../platform/text/languages.ts'

test('a student who states an age below 18 needs the consent of a guardian, if the organisation requires it', async (t) => {
  const app = await startApp(t)
  const { orgId } = await app.fixtures.createOrg()
  const key = await app.fixtures.createSessionKey(orgId, 'test')
  const { openSession, storeSkills, getSession } = minorCalls(app, orgId, key)
  const before = await openSession({ age: 16 })
  assert.equal((await storeSkills(before.token)).status, 200) // no rule: the age has no effect
  assert.equal((await getSession(before.token)).body.data.guardianConsent, undefined)

  const owner = await signInMember(app, orgId, 'owner')
  await owner.put(`/orgs/${orgId}/privacy`, { minors: 'guardian_consent' })
  const adult = await openSession({ age: 18 })
  assert.equal((await storeSkills(adult.token)).status, 200)
  const unstated = await openSession({})
  assert.equal((await getSession(unstated.token)).body.data.guardianConsent, 'age_required')
  assert.equal((await storeSkills(unstated.token)).status, 200) // existing calls without an age work as before

  const { token } = await openSession({ age: 16 })
  const rejected = await storeSkills(token)
  assert.deepEqual([rejected.status, rejected.body.error.code], [403, 'FORBIDDEN'])
  const post = (path: string, body: object) =>
    app.fetch(`/api/v1/verify/${token}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const older = await post('age', { age: 18 })
  assert.deepEqual([older.status, older.body.error.code], [409, 'SESSION_LOCKED']) // the gate cannot be avoided
  app.clock.advance(SECOND)
  const own = await post('guardian', { name: 'Lata Rao', email: 'Asha.Rao+mother@example.com' })
  assert.equal(own.status, 400, 'the mailbox of the student')
  const asked = await post('guardian', { name: 'Lata Rao', email: 'lata@example.com' })
  assert.deepEqual([asked.status, asked.body.data.guardianConsent], [200, 'pending'])
  assert.equal((await storeSkills(token)).status, 403)
  assert.equal((await post('guardian/confirm', { code: '000000' })).status, 403)
  app.clock.advance(SECOND) // the rate limit of the session
  const confirmed = await post('guardian/confirm', { code: await readEmailCode(app, 'lata@example.com') })
  assert.deepEqual([confirmed.status, confirmed.body.data.guardianConsent], [200, 'given'])
  assert.equal((await storeSkills(token)).status, 200)
  // The address is sealed with the key of the student.
  for (const table of ['guardian_consents', 'mails']) {
    const { rows } = await app.context.db.pool.query(`select * from ${table}`)
    assert.equal(rows.length, 1)
    assert.doesNotMatch(JSON.stringify(rows), /lata/i, table)
  }
})

test('the guardian gets an email in the language of the page, with the code and the name of the organisation', async (t) => {
  const app = await startApp(t)
  const { orgId } = await app.fixtures.createOrg()
  const key = await app.fixtures.createSessionKey(orgId, 'test')
  const owner = await signInMember(app, orgId, 'owner')
  await owner.put(`/orgs/${orgId}/privacy`, { minors: 'guardian_consent' })
  for (const language of LANGUAGES) {
    const { token } = await minorCalls(app, orgId, key).openSession({ age: 16, email: `asha-${language}@example.com` })
    const asked = await app.fetch(`/api/v1/verify/${token}/guardian`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'accept-language': language },
      body: JSON.stringify({ name: 'Lata Rao', email: `lata-${language}@example.com` }),
    })
    assert.equal(asked.status, 200, language)
    assert.match(await readEmailCode(app, `lata-${language}@example.com`), /^\d{6}$/, language)
    app.clock.advance(SECOND)
  }
})

function minorCalls(app: Awaited<ReturnType<typeof startApp>>, orgId: string, key: string) {
  const calls = verificationCalls(app, orgId, key, 'test')
  return {
    openSession: (fields: object) => calls.openSession({ email: 'asha.rao@example.com', ...fields }),
    getSession: (token: string) => app.fetch(`/api/v1/verify/${token}`),
    storeSkills: (sessionToken: string) =>
      app.fetch('/api/v1/step1/storeskills/store', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ sessionToken, skills: [{ skillId: BRICKLAYING }] }),
      }),
  }
}
