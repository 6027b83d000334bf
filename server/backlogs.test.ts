import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startApp } from '../test/support/app.ts'
import { aCandidate, createCampaignPartner } from '../test/support/partners.ts'
import { until } from '../test/support/until.ts'
import { watchBacklogs } from './backlogs.ts'
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
