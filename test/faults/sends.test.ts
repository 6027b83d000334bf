import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { saveCredentials } from '../../server/channels/credentials.ts'
import { defaultTexts } from '../../server/channels/templates/default-texts.ts'
import { dltCsv } from '../../server/channels/templates/export.ts'
import { readDltIds } from '../../server/channels/templates/import.ts'
import { listTemplates, saveTemplates, templateRule } from '../../server/channels/templates/register.ts'
import { startApp } from '../support/app.ts'
import { registerAtPortal, startIndianProviders } from '../support/india.ts'
import { nodeOptions } from '../support/node-options.ts'
import { aCandidate, createCampaignPartner } from '../support/partners.ts'
import { EXOTEL } from '../support/provider.ts'
import { until } from '../support/until.ts'
import { databaseEnv } from './server-process.ts'

const CANDIDATE_COUNT = 60
const KILL_COUNT = 3
/** Long enough that each kill finds messages that the provider has received and not yet answered. */
const RESPONSE_DELAY_MS = 300

test('workers that are killed while they send SMS never send a message twice', { timeout: 240_000 }, async (t) => {
  const app = await startApp(t)
  const { context, clock, url } = app
  const { db, vault, config } = context
  const india = await startIndianProviders(t, clock)
  india.options.delayMs = RESPONSE_DELAY_MS
  const partner = await createCampaignPartner(app, { mode: 'live' })
  await db.transaction(async (tx) => {
    // The clock of the workers makes this ten messages per second, so that a slow test cannot miss the moment to kill a worker.
    const settings = { ...EXOTEL, templates: undefined, base_url: india.url, per_second: 1 }
    await saveCredentials(tx, vault, clock, partner.orgId, 'sms', settings)
    await saveTemplates(tx, clock, partner.scope, defaultTexts('sms', 'Acme Staffing', templateRule('sms')))
    const templates = await listTemplates(tx, partner.scope)
    const ids = registerAtPortal(dltCsv(templates, { header: EXOTEL.from }), india.operator)
    await saveTemplates(tx, clock, partner.scope, readDltIds(ids, templates))
  })
  const { mandate_id } = await partner.createMandate({ channels: ['sms'] })
  await partner.createCampaign(
    mandate_id,
    Array.from({ length: CANDIDATE_COUNT }, (_, number) => aCandidate(number)),
  )
  const clockEnv = { CLOCK_STARTED: String(Date.now()), CLOCK_NOON: String(clock.now()) }
  const startWorker = async () => {
    const child = spawn(process.execPath, [...nodeOptions, new URL('sends-worker.ts', import.meta.url).pathname], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...databaseEnv(config), ...clockEnv, PUBLIC_URL: url },
    })
    t.after(() => child.kill('SIGKILL'))
    await once(child.stdout!, 'data')
    return child
  }
  const countOf = async (...states: string[]) => {
    const { rows } = await db.pool.query<{ count: number }>(
      'select count(*)::int as count from messages where state = any ($1)',
      [states],
    )
    return rows[0]!.count
  }
  let interruptedSends = 0
  for (let kill = 1; kill <= KILL_COUNT; kill++) {
    const sentBefore = india.sent.length
    const worker = await startWorker()
    await until(
      () => india.sent.length > sentBefore + 5,
      60_000,
      () => `kill ${kill}: ${sentBefore} messages sent before, ${india.sent.length} now`,
    )
    worker.kill('SIGKILL')
    await once(worker, 'exit')
    interruptedSends += await countOf('sending')
  }
  assert.ok(interruptedSends > 0, 'no worker was killed during a send')
  const worker = await startWorker()
  await until(async () => (await countOf('queued', 'sending')) === 0 && india.sent.length > 0, 120_000)
  worker.kill('SIGKILL')
  const recipients = india.sent.map(({ to }) => to)
  assert.equal(new Set(recipients).size, recipients.length, 'no message was sent twice')
  assert.deepEqual(india.refusals, [])
  assert.equal((await countOf('sent')) + (await countOf('unknown')), CANDIDATE_COUNT)
  assert.ok((await countOf('unknown')) <= interruptedSends, 'only interrupted sends have an unknown outcome')
})
