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
  const [miskeyed, good, unused] = (await loadBank()).itemsOf(2001).map(({ id }) => id) as [string, string, string]
  await insertResponses(app, { orgId, itemId: miskeyed, skillNumber: 2001, count: 150, pattern: 'miskeyed' })
  await insertResponses(app, { orgId, itemId: good, skillNumber: 2001, count: 50 })
  await insertOwnItems(app, { orgId, skillNumber: 2001, ids: ['IT_OWN'] })
  await app.context.db.pool.query(`update skill_items set external_id = 'wire-7' where item_id = 'IT_OWN'`)
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

  const listed = await cli('list', '--skill', 'sk_2001', '--org', orgId)
  assert.match(listed, /^ITEM +EXTERNAL ID +SOURCE +KIND +LANGUAGES +STATUS +REASON +RESPONSES /)
  assert.match(listed, /^IT_OWN +wire-7 +private +method +en +active +- +0 /m)
  assert.match(listed, new RegExp(`^${escapePattern(good)} +- +bank +\\w+ +en,hi\\S* +active +- +50 `, 'm'))
  const shown = await cli('show', miskeyed)
  assert.match(shown, /Status +retired \(miskeyed\)/)
  assert.match(shown, /^Languages +en,hi/m)
  assert.match(shown, /^OPTION +CHOSEN +MEAN ABILITY +TEXT\n/m)
  assert.match(shown, /^key +\d+/m)
  assert.match(shown, /^distractor 1 +\d+/m)
  const withoutStatistics = await cli('show', unused)
  assert.match(withoutStatistics, /^OPTION +TEXT\nkey +\S.*\ndistractor 1 +\S.*\ndistractor 2 /m)
  const shownOwn = await cli('show', 'IT_OWN')
  assert.match(shownOwn, /^External ID +wire-7\n(?:.*\n)*Kind +method\nLanguages +en\n/m)
  assert.doesNotMatch(shownOwn, /Private stem/)

  assert.equal(await cli('retire', 'IT_OWN'), 'Retired IT_OWN.\n')
  const retired = JSON.parse(await cli('list', '--json'))
  assert.deepEqual(
    retired.map(({ item_id, external_id, retirement_reason }: any) => [item_id, external_id, retirement_reason]),
    [
      ['IT_OWN', 'wire-7', 'manual'],
      [miskeyed, null, 'miskeyed'],
    ],
  )
  assert.equal(await cli('restore', miskeyed), `Restored ${miskeyed}.\n`)
  assert.equal(await cli('restore', miskeyed), `${miskeyed} is not retired.\n`)
  await assert.rejects(cli('retire', '2001.9.9-none'), /Question 2001\.9\.9-none not found/)
  const operator = await signIn(app)
  const audit = (await operator.get('/operator/audit?limit=20')).body.data.items
  assert.deepEqual(
    audit
      .filter(({ action }: any) => action.startsWith('item.'))
      .map(({ action, subject, org_id }: any) => [action, subject, org_id]),
    [
      ['item.restore', miskeyed, null],
      ['item.retire', 'IT_OWN', orgId],
    ],
  )
  await insertResponses(app, { orgId, itemId: unused, skillNumber: 2001, count: 801 })
  const [, ...lines] = (await cli('responses', '--org', orgId, '--csv')).trim().split('\r\n')
  const expected = [150, 50, 801].flatMap((count, item) =>
    Array.from({ length: count }, (_, index) => `${[miskeyed, good, unused][item]!} ${(index % 5) + 1}`),
  )
  const exported = lines.map((line) => line.split(',')).map((cells) => `${cells[1]} ${cells[7]}`)
  assert.deepEqual(exported.sort(), expected.sort())
})

const escapePattern = (text: string) => text.replaceAll('.', '\\.')
