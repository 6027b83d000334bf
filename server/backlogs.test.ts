import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startApp } from '../test/support/app.ts'
import { aPerson, startAts } from '../test/support/ats/connection.ts'
import { aCandidate, createCampaignPartner, passTime } from '../test/support/partners.ts'
import { until } from '../test/support/until.ts'
import { readBacklogs, watchBacklogs } from './backlogs.ts'
import { HOUR } from './platform/clock.ts'

test('work that waits too long is visible in the metrics and raises an alarm once', async (t) => {
  const app = await startApp(t)
  const { context, clock } = app
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  await partner.createCampaign(mandate_id, [aCandidate(1), aCandidate(2)])
  const receivers = await partner.post('/webhooks', { url: 'https://hooks.example.com/in' })
  assert.equal(receivers.status, 201)
  await context.events.sequence()
  clock.advance(HOUR)
  const watcher = watchBacklogs(context, 10)
  t.after(() => watcher.stop())

  const alarmLines = (name: string) => app.logLines.filter((line) => line.includes(`"alarm":"${name}"`))
  await until(() => alarmLines('backlog_contacts').length > 0)
  await sql`insert into event_outbox (event_id, org_id, mode, type, data, created_at)
    values ('EV_1', 'ORG_1', 'test', 'mandate.ready', '{}', ${new Date(clock.now() - HOUR)})`.execute(
    context.db.queries,
  )
  await sql`insert into credential_holders
      (holder_id, org_id, mode, contact_kind, contact_hash, external_id, profile_slug, created_at, updated_at)
    values ('CH_1', ${partner.orgId}, 'test', 'email', '\\x00', 'x', 'X', now(), now())`.execute(context.db.queries)
  await sql`insert into credential_consents
      (source_kind, source_id, org_id, mode, holder_id, wanted, show_name, language, text_version, given_at, issue_due_at)
    values ('session', 'SV_1', ${partner.orgId}, 'test', 'CH_1', true, false, 'en', 1, now(), ${new Date(clock.now() - HOUR)})`.execute(
    context.db.queries,
  )
  await until(() => alarmLines('backlog_credentials').length > 0)
  const { body } = await app.fetch('/metrics')
  assert.match(body, /attestry_backlog_rows\{backlog="credentials"\} 1/)
  assert.match(body, /attestry_backlog_rows\{backlog="contacts"\} 2/)
  assert.match(body, /attestry_backlog_oldest_seconds\{backlog="contacts"\} 3600/)
  for (const name of ['events', 'deliveries', 'reports', 'sends', 'mandates', 'dead_letters'])
    assert.match(body, new RegExp(`attestry_backlog_rows\\{backlog="${name}"\\} \\d`))
  assert.equal(alarmLines('backlog_contacts').length, 1)
  assert.match((await app.fetch('/metrics')).body, /attestry_alarms_total\{alarm="backlog_contacts"\} 1/)
})

test('the backlogs leave out work that must wait: of paused campaigns, restricted people, disabled webhooks and later reports', async (t) => {
  const app = await startApp(t)
  const { context, clock } = app
  const count = async (name: string) => {
    const backlogs = await readBacklogs(context.db.queries, clock.now())
    return backlogs.find((backlog) => backlog.name === name)!.rows
  }
  const { ats, partner } = await startAts(t, app, 'ashby')
  const { mandate_id } = await partner.createMandate()
  await ats.order('order-1', mandate_id, aPerson(1))
  await passTime(app, 10_000)
  const { rows } = await context.db.pool.query(`select kind from ats_reports where state = 'pending' order by number`)
  assert.deepEqual(
    rows.map(({ kind }) => kind),
    ['started', 'result'],
  )
  assert.equal(await count('reports'), 1, 'the second report waits for the first')

  const { campaign } = await partner.createCampaign(mandate_id, [aCandidate(2), aCandidate(3), aCandidate(4)])
  clock.advance(HOUR)
  assert.equal(await count('contacts'), 3)
  const path = `/campaigns/${campaign.campaign_id}`
  assert.equal((await partner.post(`${path}/pause`)).status, 200)
  assert.equal(await count('contacts'), 0)
  assert.equal((await partner.post(`${path}/resume`)).status, 200)
  clock.advance(HOUR)
  assert.equal(await count('contacts'), 3)
  const { body } = await partner.get(`/people?phone=${encodeURIComponent(aCandidate(2).phone)}`)
  const restricted = await partner.post(`/people/${body.data.items[0].person_id}/restrict`, {})
  assert.equal(restricted.status, 200, JSON.stringify(restricted.body))
  assert.equal(await count('contacts'), 2)
  await context.db.pool.query(
    `insert into dead_letters (queue, subject_id, attempts, error, first_failed_at, last_failed_at)
    select 'contacts', max(candidate_id), 1, 'failed', now(), now() from contacts where not restricted`,
  )
  assert.deepEqual([await count('contacts'), await count('dead_letters')], [1, 1])

  const webhook = await partner.post('/webhooks', { url: 'https://hooks.example.com/in' })
  const webhookPath = `/webhooks/${webhook.body.data.webhook_id}`
  assert.equal((await partner.post(`${webhookPath}/test`)).status, 202)
  await context.events.sequence()
  assert.equal(await count('deliveries'), 1)
  assert.equal((await partner.post(`${webhookPath}/disable`)).status, 200)
  assert.equal(await count('deliveries'), 0)
})
