import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import type { Config } from '../../../server/config.ts'
import { newPage } from '../../../test/browser/browser.ts'
import { button, checkPage, consolePage, waitForHeading } from '../../../test/browser/console-page.ts'
import { ADMIN_KEY, startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'

const MAIN = fileURLToPath(new URL('../../../server/main.ts', import.meta.url))

/** Starts a server process with the given roles. */
async function startProcess(t: TestContext, config: Config, roles: string) {
  const child = spawn(process.execPath, [MAIN], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      PORT: '0',
      ROLES: roles,
      LOG_LEVEL: 'error',
      DATABASE_URL: config.databaseUrl,
      MASTER_KEY: config.masterKey!.toString('base64'),
      ADMIN_API_KEY: ADMIN_KEY,
    },
  })
  t.after(() => stop(child, 'SIGKILL'))
  let output = ''
  for (;;) {
    const [chunk] = (await once(child.stdout!, 'data')) as [Buffer]
    output += chunk
    const url = /Attestry is running at (\S+)/.exec(output)?.[1]
    if (url) return { url, child }
  }
}

async function stop(child: ChildProcess, signal: NodeJS.Signals) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill(signal)
  await exited
}

const alerts = (page: Page) => page.getByRole('main').getByRole('alert')

test('the status page shows an alert until a worker is running', async (t) => {
  const { context } = await startApp(t)
  const api = await startProcess(t, context.config, 'api')
  const page = await newPage(t)
  await page.goto(`${api.url}/console/operator/now`)
  const key = page.getByLabel('Admin key')
  if (!(await key.isVisible())) await page.getByText('Sign in as the operator').click()
  await key.fill(ADMIN_KEY)
  await button(page, 'Sign in').click()
  await waitForHeading(page, 'Status')
  await alerts(page).getByText('No worker is running').waitFor()
  assert.equal(await alerts(page).count(), 1)
  await page.getByRole('navigation').getByRole('link', { name: 'Status 1 alert', exact: true }).waitFor()
  await checkPage(page, 'operator-status-no-worker')
  await page.getByRole('link', { name: 'View waiting jobs' }).click()
  await waitForHeading(page, 'Jobs')
  assert.equal(await page.getByLabel('State').inputValue(), 'waiting')

  const worker = await startProcess(t, context.config, 'worker')
  await page.goto(`${api.url}/console/operator/now`)
  await page.getByText('No alerts. The partner API is on; 1 worker is running.').waitFor()
  assert.equal(await alerts(page).count(), 0)
  await stop(worker.child, 'SIGTERM')
  await page.reload()
  await alerts(page).getByText('No worker is running').waitFor()
})

test('the status page lists calls with server errors, but not client errors, and links to the request log', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { orgId } = await app.given.org('Metro Staffing')
  const key = await app.given.key(orgId, { mode: 'test' })
  const { get } = app.as(key)
  await app.context.db.pool.query('alter table workflows rename to workflows_away')
  assert.equal((await get('/workflows', { headers: { 'x-request-id': 'call-that-failed' } })).status, 500)
  assert.equal((await get('/mandates/JM_01KKDZX1A2B3C4D5E6F7G8H9JK')).status, 404)
  const page = await consolePage(t, app)
  await page.goto(`${app.url}/console/operator/now`)
  await alerts(page).getByText('1 API call failed with a server error in the last hour.').waitFor()
  const calls = page.getByRole('table', { name: 'API calls with server errors, newest first' })
  await calls.getByRole('row', { name: /GET \/api\/v1\/partner\/workflows Metro Staffing, test/ }).waitFor()
  assert.equal(await calls.getByRole('row').count(), 2, 'the header and the call')
  await checkPage(page, 'operator-status-failed-calls')
  await calls.getByRole('link', { name: 'call-that-failed' }).click()
  await waitForHeading(page, 'Request log')
  const logged = page.getByRole('row', { name: /GET \/api\/v1\/partner\/workflows/ })
  await logged.getByText('500').waitFor()
  assert.equal(await page.getByRole('row').count(), 2, 'the header and the requested call')

  app.clock.advance(3_600_000)
  await page.goto(`${app.url}/console/operator/now`)
  await page.getByText('No alerts.').waitFor()
})
