import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { ADMIN_KEY, cloneDatabase } from '../../test/support/app.ts'
import { runCommand } from '../../test/support/command.ts'
import { until } from '../../test/support/until.ts'

interface Report {
  ready: boolean
  pending_migrations: string[]
  estimated_seconds: number
  findings: { check: string; state: string; message: string }[]
}

/** Creates a database, and returns a function that runs `attestry upgrade` on it, and a connection of the owner. */
async function createDatabase(t: TestContext) {
  const database = await cloneDatabase()
  const client = new pg.Client({ connectionString: database.ownerUrl })
  await client.connect()
  t.after(async () => {
    await client.end()
    await database.drop()
  })
  const env = {
    DATABASE_URL: database.url,
    DATABASE_OWNER_URL: database.ownerUrl,
    ADMIN_API_KEY: ADMIN_KEY,
    MASTER_KEY: randomBytes(32).toString('base64'),
  }
  return {
    client,
    url: database.ownerUrl,
    async upgrade(...args: string[]) {
      const { code, stdout, stderr } = await runCommand(['upgrade', ...args, '--json'], { cwd: tmpdir(), env })
      assert.ok(stdout, stderr)
      return { code, report: JSON.parse(stdout) as Report }
    },
  }
}

/** Brings the database to the state before a migration, which can then be applied again. */
async function undoMigration(client: pg.Client) {
  await client.query(`
    alter table verification_attempts drop column ended_at cascade;
    create index verification_attempts_open on verification_attempts (expires_at);
    delete from schema_migrations where name = '${UNDONE_MIGRATION}'`)
}

const UNDONE_MIGRATION = '0015_ended_attempts.sql'

const stateOf = ({ findings }: Report, check: string) => findings.find((finding) => finding.check === check)?.state
const messagesOf = ({ findings }: Report, check: string) =>
  findings.filter((finding) => finding.check === check).map(({ message }) => message)

test('upgrade --check lists missing migrations, changes nothing, and upgrade applies them', async (t) => {
  const { client, upgrade } = await createDatabase(t)
  const upToDate = await upgrade('--check')
  assert.deepEqual([upToDate.code, upToDate.report.pending_migrations], [0, []])
  assert.deepEqual(messagesOf(upToDate.report, 'migrations'), ['all migrations are applied'])
  assert.deepEqual(messagesOf(upToDate.report, 'processes'), [])

  await undoMigration(client)
  const { code, report } = await upgrade('--check')
  assert.equal(code, 0)
  assert.equal(report.ready, true)
  assert.deepEqual(report.pending_migrations, [UNDONE_MIGRATION])
  assert.equal(stateOf(report, 'locks'), 'ok')
  assert.match(messagesOf(report, 'processes')[0]!, /stop all of them before the upgrade/)
  assert.equal((await upgrade('--check')).report.pending_migrations.length, 1, 'a check applies nothing')

  const upgraded = await upgrade()
  assert.equal(upgraded.code, 0)
  assert.deepEqual((await upgrade('--check')).report.pending_migrations, [])
})

test('upgrade refuses a database that a newer version has migrated', async (t) => {
  const { client, upgrade } = await createDatabase(t)
  await client.query(`insert into schema_migrations (name, checksum) values ('0999_future.sql', 'x')`)
  for (const args of [['--check'], []]) {
    const { code, report } = await upgrade(...args)
    assert.equal(code, 1)
    assert.equal(report.ready, false)
    assert.match(
      messagesOf(report, 'version')[0]!,
      /migrated by a newer version of Attestry: it has migration 0999_future\.sql.* restore a backup/,
    )
  }
  await client.query(`update schema_migrations set compatible_with = '0001' where name = '0999_future.sql'`)
  const { code, report } = await upgrade('--check')
  assert.equal(code, 0, 'the newer migration allows this version')
  assert.match(messagesOf(report, 'version')[0]!, /a newer version has applied 0999_future\.sql/)
})

test('upgrade --check reports open transactions that a migration would wait for', async (t) => {
  const { client, url, upgrade } = await createDatabase(t)
  await undoMigration(client)
  const reader = new pg.Client({ connectionString: url, application_name: 'a report' })
  await reader.connect()
  await reader.query('begin; select from verification_attempts limit 1')
  const { report } = await until(async () => {
    const result = await upgrade('--check')
    return stateOf(result.report, 'locks') === 'warning' ? result : undefined
  })
  assert.equal(report.ready, true)
  assert.match(messagesOf(report, 'locks')[0]!, /\(a report\) has a transaction .* and uses verification_attempts/)
  await reader.end()
  assert.equal(stateOf((await upgrade('--check')).report, 'locks'), 'ok')
})

test('upgrade --check reports an unreachable database without a stack trace', async () => {
  const { code, stdout } = await runCommand(['upgrade', '--check'], {
    cwd: tmpdir(),
    env: {
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/attestry',
      ADMIN_API_KEY: ADMIN_KEY,
      MASTER_KEY: randomBytes(32).toString('base64'),
    },
  })
  assert.equal(code, 1)
  assert.match(stdout, /✗ database {4}.*ECONNREFUSED/)
  assert.match(stdout, /The upgrade cannot start\. Nothing was changed\./)
})
