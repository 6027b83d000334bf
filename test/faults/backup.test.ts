import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { AttestryClient } from '../../sdk/index.ts'
import { BACKUP_KEY, createEmptyDatabase, createTemporaryFolder } from '../support/backups.ts'
import { createDeployment } from '../support/server.ts'

const WRITERS = 4

test('a backup under load has every write that was acknowledged before, and moves a server to another database and back', async (t) => {
  const source = await createDeployment(t)
  source.env.BACKUP_KEY = BACKUP_KEY
  const folder = await createTemporaryFolder(t)
  const server = await source.serve()
  const org = await source.json('org', 'create', '--name', 'Acme Staffing')
  const key = await source.json('key', 'create', '--org', org.org_id, '--mode', 'test', '--limits', 'ci')
  await source.json('credits', 'grant', '--org', org.org_id, '--mode', 'test', '--amount', '5000')
  const clientOf = (baseUrl: string) => new AttestryClient({ baseUrl, keyId: key.key_id, secret: key.secret })
  const acknowledged = new Set<string>()
  let isWriting = true
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    for (let number = 0; isWriting; number++) {
      const response = await clientOf(server.url).request('POST', '/workflows', {
        body: { name: `Workflow ${writer}-${number}` },
        headers: { 'idempotency-key': `w-${writer}-${number}` },
      } as never)
      if (response.status === 201) acknowledged.add((response.body as any).data.workflow_id)
      else await new Promise((resolve) => setTimeout(resolve, 50)) // the rate limit
    }
  })
  while (acknowledged.size < 20) await new Promise((resolve) => setTimeout(resolve, 20))
  const acknowledgedBefore = [...acknowledged]
  const backup = await source.json('backup', '--to', `${folder}/first.attestry-backup`)
  assert.ok(acknowledged.size > acknowledgedBefore.length, 'writes continue during the backup')
  isWriting = false
  await Promise.all(writers)
  await server.stop()
  assert.equal(backup.includes_master_key, false)

  const masterKey = source.env.MASTER_KEY ?? (await readFile(join(source.dataDir, 'master-key'), 'utf8')).trim()
  const target = await createEmptyDatabase(t, masterKey)
  const restored = await target.json('restore', `${folder}/first.attestry-backup`)
  assert.deepEqual([restored.held, restored.taken_at], [true, backup.taken_at])
  const moved = await source.serve({ env: target.env })
  const list = async (url: string) => {
    const ids: string[] = []
    let cursor = ''
    do {
      const { status, body } = await clientOf(url).request('GET', `/workflows?limit=100${cursor}`)
      if (status !== 200) return status
      const { items, next_cursor } = (body as any).data
      ids.push(...items.map(({ workflow_id }: { workflow_id: string }) => workflow_id))
      cursor = next_cursor ? `&cursor=${encodeURIComponent(next_cursor)}` : ''
    } while (cursor)
    return ids
  }
  assert.equal(await list(moved.url), 503, 'the service is off, and the signature was accepted')
  assert.match((await target.run('service', 'status')).stdout, /all +off .* restored from first\.attestry-backup/)
  await target.json('service', 'on')
  let ids = await list(moved.url)
  while (!Array.isArray(ids)) ids = await list(moved.url)
  assert.deepEqual(
    acknowledgedBefore.filter((id) => !ids.includes(id)),
    [],
    'no acknowledged write is lost',
  )
  assert.equal((await target.json('credits', 'show', '--org', org.org_id, '--mode', 'test')).balance, 5000)
  assert.equal(await moved.stop(), 0)

  await target.json('backup', '--to', `${folder}/second.attestry-backup`, '--include-master-key')
  const report = await target.json('backup', 'verify', `${folder}/second.attestry-backup`)
  assert.deepEqual(report.failures, [])
  assert.ok(report.secrets >= 2, 'the secrets were decrypted')
  const back = await createDeployment(t, { embedded: true, empty: true })
  back.env.BACKUP_KEY = BACKUP_KEY
  const { held } = await back.json('restore', `${folder}/second.attestry-backup`, '--no-hold')
  assert.equal(held, false)
  const embedded = await back.serve()
  const idsBack = await list(embedded.url)
  assert.deepEqual(idsBack, ids)
})
