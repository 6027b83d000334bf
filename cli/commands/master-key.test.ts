import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AttestryClient } from '../../sdk/index.ts'
import { createDeployment } from '../../test/support/server.ts'
import { until } from '../../test/support/until.ts'

test('the master key can be rotated while a server runs, which loads the new key on restart', async (t) => {
  const { serve, json, cli } = await createDeployment(t, { embedded: true })
  const server = await serve()
  const org = await json('org', 'create', '--name', 'Acme')
  const key = await json('key', 'create', '--org', org.org_id, '--mode', 'live')
  const call = async (url: string) =>
    (await new AttestryClient({ baseUrl: url, keyId: key.key_id, secret: key.secret }).request('GET', '/shifts')).status
  await json('master-key', 'rotate')
  await until(async () => (await call(server.url)) === 200)
  await server.stop()
  const restartedServer = await serve()
  assert.equal(await call(restartedServer.url), 200)
  const repeatedFinish = await cli('master-key', 'finish')
  assert.equal(repeatedFinish.code, 0, repeatedFinish.stderr)
  assert.match(repeatedFinish.stdout, /^Nothing to finish/)
})

test('the data key can be rotated while a server runs, without a failed call', async (t) => {
  const { serve, json, cli, env } = await createDeployment(t)
  const server = await serve()
  const org = await json('org', 'create', '--name', 'Acme')
  const key = await json('key', 'create', '--org', org.org_id, '--mode', 'live')
  const call = async (secret: string) =>
    (await new AttestryClient({ baseUrl: server.url, keyId: key.key_id, secret }).request('GET', '/shifts')).status
  for (const limitClass of ['key', 'reads'])
    await json(
      ...['key', 'limits', key.key_id, '--class', limitClass],
      ...['--per-second', '1000000', '--burst', '1000000', '--per-minute', '1000000'],
    )
  await until(async () => (await call(key.secret)) === 200)
  const statuses = new Set<number>()
  let isRotating = true
  const calls = (async () => {
    while (isRotating) statuses.add(await call(key.secret))
  })()
  const rotation = await json('master-key', 'rotate', '--data-key')
  isRotating = false
  await calls
  assert.deepEqual([...statuses], [200])
  assert.ok(rotation.data_key.resealed > 0)
  env.MASTER_KEY = rotation.master_key
  assert.equal((await json('master-key', 'finish')).forgotten, 1)
  const rotatedKey = await json('key', 'rotate', key.key_id)
  await until(async () => (await call(rotatedKey.secret)) === 200)
  assert.match((await cli('master-key', 'rotate')).stdout, /The data key and the encrypted secrets are unchanged/)
})
