import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import type { Config } from '../../../server/config.ts'
import { newPage } from '../../../test/browser/browser.ts'
import { button, consolePage, heading, look } from '../../../test/browser/console-page.ts'
import { ADMIN_KEY, startApp } from '../../../test/support/app.ts'
import { keepTime } from '../../../test/support/clock.ts'

const MAIN = fileURLToPath(new URL('../../../server/main.ts', import.meta.url))

/** A server as an operator starts it, with some of the roles. */
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
  let shown = ''
  for (;;) {
    const [chunk] = (await once(child.stdout!, 'data')) as [Buffer]
    shown += chunk
    const url = /Attestry is running at (\S+)/.exec(shown)?.[1]
    if (url) return { url, child }
  }
}

async function stop(child: ChildProcess, signal: NodeJS.Signals) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill(signal)
  await gone
}

const troubles = (page: Page) => page.getByRole('main').getByRole('alert')

test('without a worker the operator is told so, until one runs', async (t) => {
  const { context } = await startApp(t)
  const api = await startProcess(t, context.config, 'api')
  const page = await newPage(t)
  await page.goto(`${api.url}/console/operator/now`)
  const key = page.getByLabel('Admin key')
  if (!(await key.isVisible())) await page.getByText('Sign in as the operator').click()
  await key.fill(ADMIN_KEY)
  await button(page, 'Sign in').click()
  await heading(page, 'Now')
  await troubles(page).getByText('No worker is running').waitFor()
  assert.equal(await troubles(page).count(), 1)
  await page.getByRole('navigation').getByRole('link', { name: 'Now 1 trouble', exact: true }).waitFor()
  await look(page, 'operator-now-no-worker')
  await page.getByRole('link', { name: 'What waits' }).click()
  await heading(page, 'Jobs')
  assert.equal(await page.getByLabel('State').inputValue(), 'waiting')

  const worker = await startProcess(t, context.config, 'worker')
  await page.goto(`${api.url}/console/operator/now`)
  await page.getByText('Nothing needs you. The partner API is on; a worker runs.').waitFor()
  assert.equal(await troubles(page).count(), 0)
  await stop(worker.child, 'SIGTERM')
  await page.reload()
  await troubles(page).getByText('No worker is running').waitFor()
})

test('calls that failed on our side are told, listed, and found in the log; refusals are not', async (t) => {
  const app = await startApp(t)
  keepTime(t, app.clock)
  const { orgId } = await app.given.org('Metro Staffing')
  const key = await app.given.key(orgId, { mode: 'test' })
  const { get } = app.as(key)
  await app.context.db.pool.query('alter table workflows rename to workflows_away')
  assert.equal((await get('/workflows', { headers: { 'x-request-id': 'call-that-failed' } })).status, 500)
  assert.equal((await get('/mandates/JM_01KKDZX1A2B3C4D5E6F7G8H9JK')).status, 404)
  const page = await consolePage(t, app)
  await page.goto(`${app.url}/console/operator/now`)
  await troubles(page).getByText('1 call failed on our side in the last hour.').waitFor()
  const calls = page.getByRole('table', { name: 'Calls that failed on our side, newest first' })
  await calls.getByRole('row', { name: /GET \/api\/v1\/partner\/workflows Metro Staffing, test/ }).waitFor()
  assert.equal(await calls.getByRole('row').count(), 2, 'the head and the call')
  await look(page, 'operator-now-failed-calls')
  await calls.getByRole('link', { name: 'call-that-failed' }).click()
  await heading(page, 'Request log')
  const logged = page.getByRole('row', { name: /GET \/api\/v1\/partner\/workflows/ })
  await logged.getByText('500').waitFor()
  assert.equal(await page.getByRole('row').count(), 2, 'the head and the call that was asked for')

  app.clock.advance(3_600_000)
  await page.goto(`${app.url}/console/operator/now`)
  await page.getByText('Nothing needs you.').waitFor()
})
