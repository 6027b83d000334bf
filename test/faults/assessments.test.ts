import assert from 'node:assert/strict'
import { test } from 'node:test'
import { neverRespond, startAiEndpoint } from '../support/ai-endpoint.ts'
import { startApp } from '../support/app.ts'
import { TestClock } from '../support/clock.ts'
import { until } from '../support/until.ts'
import { outcomeOf, verificationCalls } from '../support/verification.ts'
import { startServerProcess } from './server-process.ts'

test('after the server is killed while it generates questions, the student gets them from another process', {
  timeout: 200_000,
}, async (t) => {
  const app = await startApp(t, { clock: new TestClock(Date.now()) })
  const endpoint = await startAiEndpoint(t, neverRespond)
  const { orgId } = await app.fixtures.createOrg()
  const sessionKey = await app.fixtures.createSessionKey(orgId)
  const { config } = app.context
  const crashingServer = await startServerProcess(t, config, { AI_BASE_URL: endpoint.baseUrl, AI_MODEL: 'any' })
  const crashingCalls = verificationCalls({ ...app, url: crashingServer.url }, orgId, sessionKey)
  const session = await crashingCalls.openPreparedSession('assessment')
  const lostCall = crashingCalls.generateAssessment(session)
  await until(() => endpoint.calls.length > 0)
  crashingServer.child.kill('SIGKILL')
  await assert.rejects(lostCall)

  const server = await startServerProcess(t, config)
  const calls = verificationCalls({ ...app, url: server.url }, orgId, sessionKey)
  assert.equal(outcomeOf(await calls.generateAssessment(session)), '200')
})

test('after the server is killed before a test reviewer responds, another process submits the response once', {
  timeout: 200_000,
}, async (t) => {
  const app = await startApp(t, { clock: new TestClock(Date.now()) })
  const { orgId } = await app.fixtures.createOrg()
  const sessionKey = await app.fixtures.createSessionKey(orgId, 'test')
  const { config } = app.context
  const crashingServer = await startServerProcess(t, config)
  const crashingCalls = verificationCalls({ ...app, url: crashingServer.url }, orgId, sessionKey, 'test')
  const { session } = await crashingCalls.requestReview({ reviewer: { email: 'endorse@test.attestry.example' } })
  crashingServer.child.kill('SIGKILL')
  const calls = verificationCalls(app, orgId, sessionKey, 'test')

  await Promise.all([startServerProcess(t, config), startServerProcess(t, config)])
  await until(async () => (await calls.getVerification(session)).status === 'completed')
  assert.deepEqual(
    (await calls.listEvents()).map(({ type }) => type),
    ['verification.requested', 'verification.completed'],
  )
})
