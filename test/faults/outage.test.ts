import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { AttestryClient } from '../../sdk/index.ts'
import { readConfig } from '../../server/config.ts'
import { SECOND } from '../../server/platform/clock.ts'
import { startEmbeddedPostgres } from '../../server/platform/postgres/embedded.ts'
import { ADMIN_KEY, startApp } from '../support/app.ts'
import { until } from '../support/until.ts'
import { createTemporaryFolder } from './postgres-driver.ts'
import { startServerProcess } from './server-process.ts'

test('while the database is away, requests get 503 and few log lines; then they succeed again', {
  timeout: 230_000,
}, async (t) => {
  const dataDir = createTemporaryFolder(t)
  const startPostgres = () => startEmbeddedPostgres({ dataDir, role: 'server', log: () => {} })
  let postgres = await startPostgres()
  t.after(() => postgres.stop())
  const app = await startApp(t, { config: { databaseUrl: postgres.url } })
  const { key } = await app.fixtures.createOrg()
  assert.equal((await app.as(key).get('/workflows')).status, 200)
  await postgres.stop()
  const lineCount = app.logLines.length
  const responses = []
  for (let call = 0; call < 30; call++) {
    app.clock.advance(SECOND) // the rate limits are not tested here
    responses.push(await app.as(key).get('/workflows'))
    responses.push(await app.as(key).post('/workflows', { name: 'Site hiring' }))
  }
  for (const { status, headers, body } of responses) {
    assert.deepEqual([status, body.error.code], [503, 'SERVICE_UNAVAILABLE'])
    assert.equal(headers.get('retry-after'), '2')
    assert.match(body.error.message, /^The database is not available at the moment\. Nothing was changed\./)
  }
  const outageLines = app.logLines.slice(lineCount).filter((line) => line.includes('responding with status'))
  assert.ok(outageLines.length < responses.length / 2, `${outageLines.length} lines for ${responses.length} requests`)
  assert.equal(outageLines.join('').includes('"stack"'), false)

  // A server that starts now waits for the database.
  const config = { ...app.context.config, databaseUrl: postgres.url }
  let errorOutput = ''
  const starting = startServerProcess(t, config, {}, (text) => {
    errorOutput += text
  })
  let isReady = false
  void starting.then(() => {
    isReady = true
  })
  await until(() => errorOutput.includes('The database is not available, waiting up to 60 s'))
  assert.equal(isReady, false)
  postgres = await startPostgres()
  const { url } = await starting
  const client = new AttestryClient({ baseUrl: url, keyId: key.keyId, secret: key.secret })
  assert.equal((await client.request('GET', '/workflows')).status, 200)
  await until(async () => (await app.as(key).get('/workflows')).status === 200)
})

test('a server does not wait for a database that rejects it', async (t) => {
  const app = await startApp(t)
  const url = new URL(app.context.config.databaseUrl!)
  url.pathname = '/no_such_database'
  const config = {
    ...readConfig({ DATABASE_URL: url.href, ADMIN_API_KEY: ADMIN_KEY, MASTER_KEY: randomBytes(32).toString('base64') }),
  }
  const { openContext } = await import('../../server/open-context.ts')
  await assert.rejects(openContext(config, { jobs: [] }), /database "no_such_database" does not exist/)
})
