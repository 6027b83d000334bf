import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { createDeployment } from '../../test/support/server.ts'

test('credits can be granted and shown while a server runs; the demo organisation starts with 10,000', async (t) => {
  const { serve, json, cli, dataDir } = await createDeployment(t, { embedded: true })
  await serve()
  const { org_id } = await json('org', 'create', '--name', 'Acme Staffing')
  const grantRecord = await json('credits', 'grant', '--org', org_id, '--mode', 'live', '--amount', '250')
  assert.deepEqual(grantRecord, { org_id, mode: 'live', amount: 250, balance: 250 })
  assert.equal((await json('credits', 'show', '--org', org_id, '--mode', 'live')).balance, 250)
  const testBalance = await cli('credits', 'show', '--org', org_id, '--mode', 'test')
  assert.equal(testBalance.stdout, 'Balance: 0 test credits.\n')
  for (const amount of ['0', '-5', '1.5', 'many']) {
    const rejectedGrant = await cli('credits', 'grant', '--org', org_id, '--mode', 'live', '--amount', amount)
    assert.equal(rejectedGrant.code, 1, amount)
  }
  const unknownOrganisation = await cli('credits', 'grant', '--org', 'ORG_NOBODY', '--mode', 'live', '--amount', '5')
  assert.equal(unknownOrganisation.code, 1)
  assert.match(
    unknownOrganisation.stderr,
    /^attestry: Organisation ORG_NOBODY not found\.\nTo list .*`npx attestry org list`\.\n$/m,
  )
  const demoKeys = JSON.parse(await readFile(join(dataDir, 'demo-keys.json'), 'utf8'))
  assert.equal((await json('credits', 'show', '--org', demoKeys.org_id, '--mode', 'test')).balance, 10_000)
})
