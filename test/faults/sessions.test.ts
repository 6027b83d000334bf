import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../support/app.ts'
import { TestClock } from '../support/clock.ts'
import { until } from '../support/until.ts'
import { type TestSession, verificationCalls } from '../support/verification.ts'
import { startServerProcess } from './server-process.ts'

const CONCURRENCY = 40
/** Calls with responses, of which about a quarter open a session. */
const KILL_AFTER_RESPONSES = 60

test('after the server is killed while concurrent calls share transactions, all acknowledged steps of sessions are stored', async (t) => {
  const app = await startApp(t, { clock: new TestClock(Date.now()) })
  const { orgId } = await app.fixtures.createOrg()
  const key = await app.fixtures.createSessionKey(orgId)
  const server = await startServerProcess(t, app.context.config)
  const calls = verificationCalls({ ...app, url: server.url }, orgId, key)
  const acknowledged = new Map<string, { session: TestSession; steps: string[] }>()
  let responses = 0
  let isKilled = false
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async (_, number) => {
      while (!isKilled) {
        try {
          await runSession(`student-${number}`)
        } catch {
          // The call was not acknowledged: it exceeded the rate limit, or the server was killed.
        }
      }
    }),
  )
  assert.ok(acknowledged.size > 0)

  const restarted = await startServerProcess(t, app.context.config)
  const { getFullVerification } = verificationCalls({ ...app, url: restarted.url }, orgId, key)
  for (const { session, steps } of acknowledged.values()) {
    const stored = await until(() => getFullVerification(session)) // until the rate limit allows it
    if (steps.includes('skills')) assert.equal(stored.skills.length, 1, session.id)
    if (steps.includes('method')) assert.equal(stored.verificationMethod, 'human', session.id)
    if (steps.includes('items')) assert.equal(stored.stored.experience.length, 1, session.id)
  }

  async function runSession(externalStudentId: string) {
    const session = await calls.openSession({ externalStudentId, email: `${externalStudentId}@example.com` })
    const steps: string[] = []
    acknowledged.set(session.id, { session, steps })
    countResponse()
    for (const [name, run] of [
      ['skills', () => calls.storeSkills(session)],
      ['method', () => calls.chooseMethod(session, 'human')],
      ['items', () => calls.storeItems(session)],
    ] as const) {
      if ((await run()).status !== 200) return
      steps.push(name)
      countResponse()
    }
  }

  function countResponse() {
    if (++responses !== KILL_AFTER_RESPONSES) return
    isKilled = true
    server.child.kill('SIGKILL')
  }
})
