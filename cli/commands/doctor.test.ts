import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDeployment } from '../../test/support/server.ts'

test('doctor reports the state of every dependency', async (t) => {
  const { cli, json, env } = await createDeployment(t)
  const findings = await json<{ check: string; state: string; message: string }[]>('doctor')
  assert.deepEqual(
    // The disk is reported only if the database is embedded, and its state depends on the machine.
    findings.filter(({ check }) => check !== 'disk').map(({ check, state }) => `${check} ${state}`),
    [
      'configuration ok',
      'database ok',
      'database role ok',
      'connections ok',
      'backlog ok',
      'operators warning',
      'processes off',
      'redis off',
      'mail off',
      'ai off',
    ],
  )
  assert.match((await cli('doctor')).stdout, /– mail .*emails are stored, not sent/)
  Object.assign(env, { SMTP_URL: 'smtp://127.0.0.1:9', REDIS_URL: 'redis://127.0.0.1:9' })
  const failedCheck = await cli('doctor')
  assert.equal(failedCheck.code, 1)
  assert.match(failedCheck.stdout, /✗ redis .*not reachable/)
  assert.match(failedCheck.stdout, /✗ mail .*ECONNREFUSED/)
})

test('doctor recommends a security contact if other machines can reach the server', async (t) => {
  const { cli, env } = await createDeployment(t)
  env.PUBLIC_URL = 'https://verify.example.com'
  assert.match((await cli('doctor')).stdout, /! security .*SECURITY_CONTACT is not set/)
  env.SECURITY_CONTACT = 'security@example.com'
  assert.doesNotMatch((await cli('doctor')).stdout, /SECURITY_CONTACT/)
})
