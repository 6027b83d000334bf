import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { startApp } from '../../../test/support/app.ts'
import { createDeployment } from '../../../test/support/server.ts'
import { clusterPaths, readPassword, serverRole, superuser } from '../postgres/cluster.ts'
import { socketFolder } from '../postgres/socket.ts'
import { currentRole } from './row-access.ts'

const isExternal = process.env.TEST_EXTERNAL === '1'

test('the server can read and write rows, and nothing else', { skip: isExternal }, async (t) => {
  const { context } = await startApp(t)
  const { pool } = context.db
  const { rows } = await pool.query(
    `select rolname, rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls from pg_roles where rolname = current_user`,
  )
  assert.deepEqual(rows, [
    {
      rolname: serverRole,
      rolsuper: false,
      rolcreatedb: false,
      rolcreaterole: false,
      rolreplication: false,
      rolbypassrls: false,
    },
  ])
  const { rows: ownedTables } = await pool.query(
    'select relname from pg_class where relowner = (select oid from pg_roles where rolname = current_user)',
  )
  assert.deepEqual(ownedTables, [])
  const { rows: partitions } = await pool.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'events'::regclass limit 1`,
  )
  for (const statement of [
    'create table extra (id int)',
    'drop table mandates',
    'alter table mandates disable trigger all',
    'alter table mandates disable row level security',
    'truncate mandates',
    `update audit_log set action = 'unknown'`,
    'delete from audit_log',
    'delete from schema_migrations',
    `select * from ${partitions[0]!.name}`,
    `select pg_read_file('/etc/passwd')`,
    `copy mandates to program 'true'`,
    'create role another superuser',
    `set role ${superuser}`,
    `set session authorization ${superuser}`,
    'alter system set fsync = off',
  ])
    await assert.rejects(pool.query(statement), { code: '42501' }, statement)
})

test('a data directory of an earlier version gets the role at the next start', { skip: isExternal }, async (t) => {
  const deployment = await createDeployment(t, { embedded: true })
  const first = await deployment.serve()
  const paths = clusterPaths(deployment.dataDir)
  const runAsSuperuser = async (...statements: string[]) => {
    const client = new pg.Client({
      host: socketFolder(paths.data, []),
      user: superuser,
      password: readPassword(paths),
      database: 'attestry',
    })
    await client.connect()
    for (const statement of statements.slice(0, -1)) await client.query(statement)
    const { rows } = await client.query(statements.at(-1)!)
    await client.end()
    return rows
  }
  // Takes the role and its rights away, as if the directory had been created without it.
  await runAsSuperuser(`drop owned by ${serverRole}`, `alter role ${serverRole} rename to renamed_role`)
  await first.stop()

  const second = await deployment.serve()
  assert.equal((await fetch(`${second.url}/readyz`)).status, 200)
  assert.deepEqual(
    await runAsSuperuser(
      `select distinct usename from pg_stat_activity where application_name like 'attestry%' and datname = 'attestry'`,
    ),
    [{ usename: serverRole }],
  )
  await second.stop()
})

test('the owner of the tables is another role', { skip: isExternal }, async (t) => {
  const { context } = await startApp(t)
  assert.equal(await currentRole(context.db), serverRole)
  assert.equal(await context.db.asOwner(currentRole), superuser)
})
