import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { updateItemStatistics } from '../../server/items/statistics-job.ts'
import { loadBank } from '../../server/questions/bank/bank.ts'
import { ADMIN_KEY, startApp } from '../../test/support/app.ts'
import { signIn } from '../../test/support/console.ts'
import { insertOwnItems, insertResponses } from '../../test/support/item-responses.ts'

test('questions are listed, shown, restored and retired, and responses are exported', async (t) => {
  const app = await startApp(t)
  const { config } = app.context
  const { orgId } = await app.fixtures.createOrg()
  const [miskeyed, good] = (await loadBank()).itemsOf(2001).map(({ id }) => id) as [string, string]
  await insertResponses(app, { orgId, itemId: miskeyed, skillNumber: 2001, count: 150, pattern: 'miskeyed' })
  await insertResponses(app, { orgId, itemId: good, skillNumber: 2001, count: 50 })
  await insertOwnItems(app, { orgId, skillNumber: 2001, ids: ['IT_OWN'] })
  await updateItemStatistics(app.context)
  const env = {
    ...process.env,
    NODE_TEST_CONTEXT: undefined,
    DATABASE_URL: config.databaseUrl,
    ADMIN_API_KEY: ADMIN_KEY,
    MASTER_KEY: config.masterKey!.toString('base64'),
  }
  const main = join(import.meta.dirname, '../main.ts')
  const cli = async (...args: string[]) =>
    (await promisify(execFile)(process.execPath, [main, 'items', ...args], { env })).stdout

  assert.match(await cli('list'), new RegExp(`${miskeyed.replaceAll('.', '\\.')} +sk_2001 +bank +- +miskeyed`))
  const listed = JSON.parse(await cli('list', '--skill', 'sk_2001', '--org', orgId, '--json'))
  assert.deepEqual([listed[0].item_id, listed[0].responses], ['IT_OWN', 0])
  assert.equal(listed.find(({ item_id }: any) => item_id === good).responses, 50)
  const shown = await cli('show', miskeyed)
  assert.match(shown, /Status +retired \(miskeyed\)/)
  assert.match(shown, /^key +\d+/m)
  assert.doesNotMatch(await cli('show', 'IT_OWN'), /Private stem/)

  assert.equal(await cli('restore', miskeyed), `Restored ${miskeyed}.\n`)
  assert.equal(await cli('restore', miskeyed), `${miskeyed} is not retired.\n`)
  assert.equal(await cli('retire', 'IT_OWN'), 'Retired IT_OWN.\n')
  await assert.rejects(cli('retire', '2001.9.9-none'), /Question 2001\.9\.9-none not found/)
  const operator = await signIn(app)
  const audit = (await operator.get('/operator/audit?limit=20')).body.data.items
  assert.deepEqual(
    audit
      .filter(({ action }: any) => action.startsWith('item.'))
      .map(({ action, subject, org_id }: any) => [action, subject, org_id]),
    [
      ['item.retire', 'IT_OWN', orgId],
      ['item.restore', miskeyed, null],
    ],
  )
  const lines = (await cli('responses', '--org', orgId, '--csv')).trim().split('\r\n')
  assert.equal(lines.length, 201)
})
