import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { ADMIN_KEY } from '../../test/support/app.ts'
import { signIn } from '../../test/support/console.ts'
import { plantRing, startVerification } from '../../test/support/verification.ts'

test('rings are listed masked, shown, noted and dismissed; the audit log has every view', async (t) => {
  const calls = await startVerification(t)
  const { config } = calls.app.context
  await plantRing(calls)
  const env = {
    ...process.env,
    NODE_TEST_CONTEXT: undefined,
    DATABASE_URL: config.databaseUrl,
    ADMIN_API_KEY: ADMIN_KEY,
    MASTER_KEY: config.masterKey!.toString('base64'),
  }
  const main = join(import.meta.dirname, '../main.ts')
  const cli = async (...args: string[]) =>
    (await promisify(execFile)(process.execPath, [main, 'endorsements', ...args], { env })).stdout

  await calls.app.context.db.queries.deleteFrom('endorsement_rings').execute()
  assert.match(await cli('rings'), /No rings with the status open/)
  const [ring] = JSON.parse(await cli('rings', '--detect', '--mode', 'live', '--json'))
  assert.equal(ring.members.length, 3)
  for (const member of ring.members) assert.match(member, /^[1-3]: [0-9a-f]{8}$/)
  const shown = await cli('ring', ring.ring_id)
  assert.match(shown, /Endorsements +3 between members/)
  assert.match(shown, /[1-3]: [0-9a-f]{8} +[1-3]: [0-9a-f]{8} +manager/)
  assert.doesNotMatch(shown, /amit|bina|carl/)
  assert.match(await cli('note', ring.ring_id, 'One team', '--dismiss'), /is dismissed/)
  const [dismissed] = JSON.parse(await cli('rings', '--status', 'dismissed', '--json'))
  assert.deepEqual([dismissed.note, dismissed.noted_by.slice(0, 4)], ['One team', 'cli:'])

  const { rows } = await calls.app.context.db.pool.query('select verification_id from endorsements limit 1')
  const id = rows[0].verification_id as string
  assert.match(await cli('withdraw', id, '--reason', 'Checked by phone'), /is withdrawn/)
  const { status, withdrawnBy, declineReason } = (await calls.call('GET', `/verification/${id}`, { key: calls.key }))
    .body.data
  assert.deepEqual([status, withdrawnBy, declineReason], ['declined', 'operator', 'Checked by phone'])
  const operator = await signIn(calls.app)
  const actions = (await operator.get('/operator/audit?limit=20')).body.data.items.map(
    ({ action, subject }: { action: string; subject: string | null }) => `${action} ${subject ?? ''}`.trim(),
  )
  assert.deepEqual(
    actions.filter((action: string) => action.startsWith('rings.')),
    ['rings.list', `rings.note ${ring.ring_id}`, `rings.view ${ring.ring_id}`, 'rings.list', 'rings.list'],
  )
})
