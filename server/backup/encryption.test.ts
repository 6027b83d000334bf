import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { encodeRecord } from './archive.ts'
import { BackupError, decryptStream, encryptStream } from './encryption.ts'

const key = Buffer.alloc(32, 1)

async function* parts(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}

async function collect(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const collected: Buffer[] = []
  for await (const part of stream) collected.push(part)
  return Buffer.concat(collected)
}

const encrypt = (plain: Buffer, partBytes = 10_000) => collect(encryptStream(parts(plain, partBytes), key))
const decrypt = (bytes: Buffer, decryptionKey = key) => collect(decryptStream(parts(bytes, 777), decryptionKey))

test('records have the format of earlier versions, whose backups can be restored', () => {
  const rows = encodeRecord({ kind: 'rows', bytes: Buffer.from('1\tAsha\n') })
  assert.deepEqual(rows, Buffer.from('\x02\0\0\0\x071\tAsha\n'))
  const end = '{"kind":"end","tables":3}'
  assert.deepEqual(
    encodeRecord({ kind: 'end', tables: 3 }),
    Buffer.from(`\x01\0\0\0${String.fromCharCode(end.length)}${end}`),
  )
})

test('every length is decrypted to the same bytes, and equal contents are encrypted differently', async () => {
  for (const length of [0, 1, 65_535, 65_536, 65_537, 131_072, 300_000]) {
    const plain = randomBytes(length)
    const encrypted = await encrypt(plain)
    assert.ok((await decrypt(encrypted)).equals(plain), String(length))
    assert.ok(!encrypted.equals(await encrypt(plain)), String(length))
  }
})

test('a changed byte, a cut, an addition and exchanged chunks are detected anywhere', async () => {
  const encrypted = await encrypt(randomBytes(200_000))
  const chunkBytes = 5 + 65_536 + 16
  const start = encrypted.length - 3 * chunkBytes - (5 + (200_000 - 3 * 65_536) + 16)
  const positions = [0, 20, start - 1, start, start + 1, start + 4, start + 5, start + 70_000, encrypted.length - 1]
  for (const position of positions) {
    const changed = Buffer.from(encrypted)
    changed[position]! ^= 1
    await assert.rejects(decrypt(changed), BackupError, `byte ${position}`)
  }
  for (const length of [0, 10, start, start + 3, start + chunkBytes, encrypted.length - 1])
    await assert.rejects(decrypt(encrypted.subarray(0, length)), BackupError, `cut to ${length} bytes`)
  await assert.rejects(decrypt(Buffer.concat([encrypted, Buffer.from('x')])), /bytes after its end/)
  const [first, second] = [start, start + chunkBytes].map((at) => encrypted.subarray(at, at + chunkBytes))
  const exchanged = Buffer.concat([
    encrypted.subarray(0, start),
    second!,
    first!,
    encrypted.subarray(start + 2 * chunkBytes),
  ])
  await assert.rejects(decrypt(exchanged), /changed or damaged near byte/)
})

test('a wrong key and another file are reported as such', async () => {
  await assert.rejects(decrypt(await encrypt(Buffer.from('x')), Buffer.alloc(32, 2)), /BACKUP_KEY is not the key/)
  await assert.rejects(decrypt(randomBytes(1000)), /not an Attestry backup/)
})
