import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import type { Config } from '../../../server/config.ts'
import { queueEmail } from '../../../server/mail/mail.ts'
import { newPage } from '../../../test/browser/browser.ts'
import { checkPage, getButton, openConsolePage, waitForHeading } from '../../../test/browser/console-page.ts'
import { ADMIN_KEY, startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { signInMember } from '../../../test/support/console.ts'
import { nodeOptions } from '../../../test/support/node-options.ts'
import { startReceiver } from '../../../test/support/receiver.ts'

const MAIN = fileURLToPath(new URL('../../../server/main.ts', import.meta.url))

/** Starts a server process with the given roles. */
async function startServerProcess(t: TestContext, config: Config, roles: string, dataDir: string) {
  const child = spawn(process.execPath, [...nodeOptions, MAIN], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      PORT: '0',
      ROLES: roles,
      LOG_LEVEL: 'error',
      DATABASE_URL: config.databaseUrl,
      MASTER_KEY: config.masterKey!.toString('base64'),
      ADMIN_API_KEY: ADMIN_KEY,
      DATA_DIR: dataDir,
    },
  })
  t.after(() => stopProcess(child, 'SIGKILL'))
  let output = ''
  for (;;) {
    const [chunk] = (await once(child.stdout!, 'data')) as [Buffer]
    output += chunk
    const url = /Attestry is running at (\S+)/.exec(output)?.[1]
    if (url) return { url, child }
  }
}

async function stopProcess(child: ChildProcess, signal: NodeJS.Signals) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill(signal)
  await exited
}

const alerts = (page: Page) => page.getByRole('main').getByRole('alert')

test('the status page shows an alert until a worker is running', async (t) => {
  const { context } = await startApp(t)
  const dataDir = await mkdtemp(join(tmpdir(), 'attestry-status-'))
  t.after(() => rm(dataDir, { recursive: true }))
  const api = await startServerProcess(t, context.config, 'api', dataDir)
  const page = await newPage(t)
  await page.goto((await readFile(join(dataDir, 'operator-sign-in-link'), 'utf8')).trim())
  await waitForHeading(page, 'Organisations')
  await page.goto(`${api.url}/console/operator/now`)
  await waitForHeading(page, 'Status')
  await alerts(page).getByText('No worker is running').waitFor()
  assert.equal(await alerts(page).count(), 1)
  await page.getByRole('navigation').getByRole('link', { name: 'Status 1 alert', exact: true }).waitFor()
  await checkPage(page, 'operator-status-no-worker')
  await page.getByRole('link', { name: 'View waiting jobs' }).click()
  await waitForHeading(page, 'Background jobs')
  assert.equal(await page.getByLabel('State').inputValue(), 'waiting')

  const worker = await startServerProcess(t, context.config, 'worker', dataDir)
  await page.goto(`${api.url}/console/operator/now`)
  await page.getByText('No alerts. The partner API is on; 1 worker is running.').waitFor()
  assert.equal(await alerts(page).count(), 0)
  await stopProcess(worker.child, 'SIGTERM')
  await page.reload()
  await alerts(page).getByText('No worker is running').waitFor()
})

test('the status page lists calls with server errors, but not client errors, and links to the request log', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { orgId } = await app.fixtures.createOrg('Metro Staffing')
  const key = await app.fixtures.createPartnerKey(orgId, { mode: 'test' })
  const { get } = app.as(key)
  await app.context.db.asOwner((owner) => owner.pool.query('alter table workflows rename to workflows_away'))
  assert.equal((await get('/workflows', { headers: { 'x-request-id': 'call-that-failed' } })).status, 500)
  assert.equal((await get('/mandates/JM_01KKDZX1A2B3C4D5E6F7G8H9JK')).status, 404)
  const page = await openConsolePage(t, app)
  await page.goto(`${app.url}/console/operator/now`)
  await alerts(page).getByText('1 API call failed with a server error in the last hour.').waitFor()
  const calls = page.getByRole('table', { name: 'API calls with server errors, newest first' })
  await calls.getByRole('row', { name: /GET \/api\/v1\/partner\/workflows Metro Staffing, test/ }).waitFor()
  assert.equal(await calls.getByRole('row').count(), 2, 'the header and the call')
  await checkPage(page, 'operator-status-failed-calls')
  await calls.getByRole('link', { name: 'call-that-failed' }).click()
  await waitForHeading(page, 'Request log')
  const loggedCall = page.getByRole('row', { name: /GET \/api\/v1\/partner\/workflows/ })
  await loggedCall.getByText('500').waitFor()
  assert.equal(await page.getByRole('row').count(), 2, 'the header and the requested call')

  app.clock.advance(3_600_000)
  await page.goto(`${app.url}/console/operator/now`)
  await page.getByText('No alerts.').waitFor()
})

test('the status page shows all alerts, and the menu shows their number', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { context } = app
  const { orgId } = await app.fixtures.createOrg('Metro Staffing')
  const page = await openConsolePage(t, app)
  await page.goto(`${app.url}/console/operator`)
  await page.getByText('No alerts.').waitFor()
  await checkPage(page, 'operator-status-no-alerts')

  const email = { subject: 'Hello', text: 'Hello', html: '<p>Hello</p>', to: { address: 'asha@example.com' } }
  await context.db.transaction((tx) => queueEmail(tx, context, { ...email, kind: 'notice' }))
  const pool = context.db.pool
  await pool.query(`update pgboss.job set state = 'failed', output = '{"message": "away"}' where name = 'send-mail'`)
  await pool.query(`update mails set status = 'failed', last_error = 'no such user'`)
  const owner = await signInMember(app, orgId, 'owner')
  const { url } = await startReceiver(t)
  assert.equal((await owner.post(`/orgs/${orgId}/test/webhooks`, { url })).status, 201)
  await pool.query(`update webhooks set status = 'failing', failing_since = $1`, [new Date(app.clock.now())])
  await page.reload()
  await page.getByText('1 job failed after the last retry.').waitFor()
  await page.getByText('1 email could not be sent in the last day.').waitFor()
  await page.getByRole('row', { name: /127\.0\.0\.1:\d+.* Metro Staffing, test/ }).waitFor()
  await page.getByRole('navigation').getByRole('link', { name: 'Status 3 alerts' }).waitFor()
  await checkPage(page, 'operator-status-alerts')
  await page.setViewportSize({ width: 360, height: 780 })
  await getButton(page, 'Menu 3 alerts').click()
  const lastLink = page.getByRole('navigation').getByRole('link', { name: 'Full audit log' })
  assert.ok((await lastLink.boundingBox())!.y < 780, 'the whole menu is visible')
  await checkPage(page, 'operator-menu-phone')
  await getButton(page, 'Menu 3 alerts').click()
  await checkPage(page, 'operator-status-phone')
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.getByRole('link', { name: 'View and retry the jobs' }).click()
  await waitForHeading(page, 'Background jobs')
  await page.getByText('away').waitFor()
  await page
    .getByRole('navigation')
    .getByRole('link', { name: /^Status/ })
    .click()
  await page.getByRole('link', { name: url }).click()
  await waitForHeading(page, /127\.0\.0\.1/)
  await page.getByRole('navigation').getByRole('link', { name: 'Status 3 alerts' }).waitFor() // on every page
})
