import assert from 'node:assert/strict'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { AttestryClient } from '../../sdk/index.ts'
import { createDeployment } from '../../test/support/server.ts'
import { INDEX_SOURCE_FOLDERS } from './index-file.ts'

const ROOT = new URL('../../', import.meta.url)
const INDEX_FOLDER = new URL('server/catalogue/index/', ROOT)

test('a later start restores the index; a damaged or outdated file changes no response', async (t) => {
  const deployment = await createDeployment(t, { embedded: true })
  const path = join(deployment.dataDir, 'catalogue-index.bin')
  const start = () => deployment.serve({ env: { CATALOGUE_INDEX_ON_DEMAND: 'false', LOG_LEVEL: 'info' } })
  type Server = Awaited<ReturnType<typeof start>>
  const request = async ({ url }: Server, method: string, target: string, body?: object) => {
    const { key_id, secret } = JSON.parse(await readFile(join(deployment.dataDir, 'demo-keys.json'), 'utf8'))
    const client = new AttestryClient({ baseUrl: url, keyId: key_id, secret })
    const response = await client.request<{ data: unknown }>(method as 'GET', target, body && { body })
    return response.body.data
  }
  const getResponses = async (server: Server) => {
    const text =
      'We need welders for arc and MIG welding, no driving. Kite making and प्लंबिंग are a plus. Manage the staff.'
    return [
      await request(server, 'GET', '/skills/search?q=bijli'),
      await request(server, 'GET', '/skills/search?q=carpntr'),
      await request(server, 'GET', '/skills/search?q=kite'),
      await request(server, 'POST', '/skills/match', { phrases: ['managing the staff', 'java script', 'ac repair'] }),
      await request(server, 'POST', '/skills/extract', { text }),
    ]
  }
  const isRestored = (server: Server) => server.output().includes('catalogue index restored')

  await deployment.cli('migrate')
  const firstServer = await start()
  const responses = await getResponses(firstServer)
  assert.ok(JSON.stringify(responses).includes('House wiring'))
  await request(firstServer, 'POST', '/skills/extract', { text: 'zzqxapplicant welds' })
  assert.ok(!isRestored(firstServer))
  await firstServer.stop()
  const stored = await readFile(path)
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  for (const encoding of ['utf8', 'utf16le'] as const)
    assert.ok(!stored.includes('zzqxapplicant', 0, encoding), 'texts of requests are not stored')

  const secondServer = await start()
  assert.ok(isRestored(secondServer))
  assert.deepEqual(await getResponses(secondServer), responses)
  await secondServer.stop()
  assert.ok((await readFile(path)).equals(stored))

  const withOtherByte = Buffer.from(stored)
  withOtherByte[stored.length >> 1]! ^= 1
  await writeFile(path, withOtherByte)
  const thirdServer = await start()
  assert.ok(!isRestored(thirdServer))
  assert.match(thirdServer.output(), /stored catalogue index is damaged/)
  assert.deepEqual(await getResponses(thirdServer), responses)
  await thirdServer.stop()
  assert.ok((await readFile(path)).equals(stored), 'a damaged file is replaced')

  const csv = join(deployment.dataDir, 'skills.csv')
  await writeFile(csv, 'id,name,sub_skill,master_skill\nk1,Kite making,Paper craft,Crafts\n')
  await deployment.json('skills', 'import', '--format', 'csv', csv)
  const fourthServer = await start()
  assert.ok(!isRestored(fourthServer))
  const responsesAfterImport = await getResponses(fourthServer)
  assert.equal((responsesAfterImport[2] as { items: { name: string }[] }).items[0]!.name, 'Kite making')
  await fourthServer.stop('SIGKILL')
  assert.ok((await readFile(path)).equals(stored), 'a killed server leaves the old file')

  await writeFile(path, stored.subarray(0, stored.length >> 1))
  const fifthServer = await start()
  assert.match(fifthServer.output(), /stored catalogue index is damaged/)
  assert.deepEqual(await getResponses(fifthServer), responsesAfterImport)
  await fifthServer.stop()
  assert.ok((await readFile(path)).length > stored.length)
})

test('the key of the stored index covers all code and data that the index depends on', async () => {
  for (const name of await readdir(INDEX_FOLDER, { recursive: true })) {
    if (!name.endsWith('.ts') || name.endsWith('.test.ts')) continue
    const file = new URL(name, INDEX_FOLDER)
    const code = await readFile(file, 'utf8')
    for (const [, target] of code.matchAll(/(?:from|new URL\() ?'([^']+)'/g)) {
      if (target!.startsWith('node:')) continue
      const dependency = new URL(target!, file).href.slice(ROOT.href.length)
      assert.ok(
        INDEX_SOURCE_FOLDERS.some((folder) => dependency.startsWith(folder)),
        `${name} depends on ${dependency}`,
      )
    }
  }
})
