import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startApp } from '../../test/support/app.ts'
import { createCampaignPartner } from '../../test/support/partners.ts'
import { sealedColumns } from '../sealed-columns.ts'
import { digestTable, listTables, TEXT_SETTINGS } from './copied-tables.ts'
import { checkCreditSums, checkSecrets, compareTables } from './verification.ts'

test('every secret is decrypted and counted, and damaged ones are reported', async (t) => {
  const app = await startApp(t)
  const { db, vault } = app.context
  const before = await checkSecrets(db, vault, sealedColumns)
  assert.deepEqual(before.failures, [])
  const { orgId } = await app.fixtures.createOrg()
  const { keyId } = await app.fixtures.createPartnerKey(orgId)
  const complete = await checkSecrets(db, vault, sealedColumns)
  assert.deepEqual([complete.secrets - before.secrets, complete.failures], [2, []])

  const { table, column } = sealedColumns.find((each) => each.table === 'partner_keys')!
  await db.asOwner(({ queries }) =>
    sql`update ${sql.table(table)} set ${sql.ref(column)} = set_byte(${sql.ref(column)}, 20, get_byte(${sql.ref(column)}, 20) # 1)
      where key_id = ${keyId}`.execute(queries),
  )
  const damaged = await checkSecrets(db, vault, sealedColumns)
  assert.equal(damaged.secrets, complete.secrets)
  assert.deepEqual(damaged.failures, [`${table}.${column} of ${keyId} cannot be decrypted`])
})

test('a restored table with another number of rows or with other values is reported', async (t) => {
  const app = await startApp(t)
  const { db } = app.context
  const { orgId } = await app.fixtures.createOrg('Acme')
  await db.asOwner(async (owner) => {
    const client = await owner.pool.connect()
    await client.query('begin')
    for (const setting of TEXT_SETTINGS) await client.query(setting)
    const table = (await listTables(client)).find(({ name }) => name === 'organisations')!
    const digest = await digestTable(client, table)
    await client.query('commit')
    client.release()

    const compare = () => compareTables(owner, [{ table, digest }])
    assert.deepEqual(await compare(), [])
    await sql`update organisations set name = 'Other' where org_id = ${orgId}`.execute(owner.queries)
    const [changed, ...others] = await compare()
    assert.match(changed!, /organisations"? has rows with other values$/)
    assert.deepEqual(others, [])
    await app.fixtures.createOrg('Third')
    assert.match((await compare())[0]!, new RegExp(`has ${digest.rows + 1} rows instead of ${digest.rows}$`))
  })
})

test('a balance of credits that differs from its entries is reported', async (t) => {
  const app = await startApp(t)
  const { db } = app.context
  const { orgId, scope, get } = await createCampaignPartner(app)
  assert.deepEqual(await checkCreditSums(db), [])
  const { body } = await get('/credits')
  const { balance } = body.data
  // First a credit too many, then one too few.
  for (const [change, wrongBalance] of [
    [1, balance + 1],
    [-2, balance - 1],
  ]) {
    await sql`update credit_balances set balance = balance + ${change}
      where org_id = ${orgId} and mode = ${scope.mode}`.execute(db.queries)
    assert.deepEqual(await checkCreditSums(db), [
      `${orgId} ${scope.mode}: the balance is ${wrongBalance}, and its entries add up to ${balance}`,
    ])
  }
})
