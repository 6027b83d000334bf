import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { startS3 } from '../../test/support/s3-server.ts'
import { openS3Destination } from './s3-destination.ts'

const CHUNK_BYTES = 1024 * 1024
const NAME = 'attestry-2026-03-11T06-30-00Z.attestry-backup'

async function openDestination(t: TestContext, secret?: string) {
  const s3 = await startS3(t)
  const destination = openS3Destination('backups', 'attestry', {
    endpoint: s3.env.BACKUP_S3_ENDPOINT!,
    region: s3.env.BACKUP_S3_REGION!,
    accessKeyId: s3.env.BACKUP_S3_ACCESS_KEY_ID!,
    secretAccessKey: secret ?? s3.env.BACKUP_S3_SECRET_ACCESS_KEY!,
  })
  return { s3, destination }
}

async function* chunksOf(content: Buffer) {
  for (let start = 0; start < content.length; start += CHUNK_BYTES) yield content.subarray(start, start + CHUNK_BYTES)
}

test('a large backup is uploaded in parts of the size that S3 requires, and read again', async (t) => {
  const { s3, destination } = await openDestination(t)
  const content = randomBytes(34 * CHUNK_BYTES)
  assert.equal(await destination.write(NAME, chunksOf(content)), content.length)
  assert.equal(s3.requests.filter((request) => request.endsWith(' part')).length, 3)
  assert.ok((await buffer(destination.read(NAME))).equals(content))
  await destination.write(`0${NAME}`, chunksOf(Buffer.from('x')))
  const listed = await destination.list(() => true)
  assert.deepEqual(listed, [
    { name: `0${NAME}`, bytes: 1 },
    { name: NAME, bytes: content.length },
  ])
  await destination.remove(NAME)
  assert.deepEqual([...s3.objects.keys()], [`attestry/0${NAME}`])
})

test('an upload whose source fails is aborted, so that its parts do not cost money', async (t) => {
  const { s3, destination } = await openDestination(t)
  async function* failingSource() {
    yield randomBytes(17 * CHUNK_BYTES)
    throw new Error('the database is gone')
  }
  await assert.rejects(destination.write(NAME, failingSource()), { message: 'the database is gone' })
  assert.deepEqual(s3.requests.at(-1), `DELETE /backups/attestry/${NAME}`)
  assert.equal(s3.objects.size, 0)
})

test('errors name the storage, its reason and the variables to check', async (t) => {
  const { s3, destination } = await openDestination(t, 'wrong')
  await assert.rejects(destination.list(), {
    message: new RegExp(
      `^the storage ${s3.env.BACKUP_S3_ENDPOINT} rejected GET backups/ with status 403 SignatureDoesNotMatch: .+; check BACKUP_TO and the BACKUP_S3_ variables$`,
    ),
  })
})
