import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../support/app.ts'
import { TestClock } from '../support/clock.ts'
import { decide, getOffer } from '../support/issued-credentials.ts'
import { until } from '../support/until.ts'
import { BRICKLAYING, expectOk, verificationCalls } from '../support/verification.ts'
import { startServerProcess } from './server-process.ts'

test('after the server is killed between the endorsement and the credential, other processes issue it once', {
  timeout: 200_000,
}, async (t) => {
  const app = await startApp(t, { clock: new TestClock(Date.now()) })
  const { orgId } = await app.fixtures.createOrg()
  const sessionKey = await app.fixtures.createSessionKey(orgId)
  const { config } = app.context
  const crashingServer = await startServerProcess(t, config, { ROLES: 'api' })
  const crashingCalls = verificationCalls({ ...app, url: crashingServer.url }, orgId, sessionKey)
  const { session, token } = await crashingCalls.requestReview()
  await expectOk(decide(crashingCalls, session, { wanted: true }))
  const decisions = [{ skillId: BRICKLAYING, endorsed: true }]
  await expectOk(crashingCalls.submitReview(session, token, { decisions }))
  crashingServer.child.kill('SIGKILL')

  const calls = verificationCalls(app, orgId, sessionKey)
  assert.deepEqual((await getOffer(calls, session)).credentials, [])
  await Promise.all([startServerProcess(t, config), startServerProcess(t, config)])
  await until(async () => (await calls.getVerification(session)).credentials.length > 0)
  assert.deepEqual(
    (await calls.listEvents()).map(({ type }) => type),
    ['verification.requested', 'verification.completed', 'credential.issued'],
  )
})
