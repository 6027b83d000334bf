import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'

// The encrypted file: a header, then chunks. Each chunk has a byte that is 1 for the last chunk, the length of its ciphertext in four bytes,
// the ciphertext and the authentication tag. The nonce of a chunk contains its number and whether it is the last one, and the header is
// authenticated with every chunk, so that chunks cannot be changed, reordered, removed or moved to another file.

const MAGIC = Buffer.from('ATTESTRY BACKUP 1\n')
const SALT_BYTES = 32
const KEY_CHECK_BYTES = 16
const HEADER_BYTES = MAGIC.length + SALT_BYTES + KEY_CHECK_BYTES
const CHUNK_BYTES = 64 * 1024
const CHUNK_HEADER_BYTES = 5
const TAG_BYTES = 16
const NONCE_BYTES = 12

/** A backup that cannot be read, with a message for the operator. */
export class BackupError extends Error {}

/** Encrypts a stream with AES-256-GCM, under a key that is derived from `key` for this file only. */
export async function* encryptStream(source: AsyncIterable<Buffer>, key: Buffer): AsyncGenerator<Buffer> {
  const salt = randomBytes(SALT_BYTES)
  const { fileKey, keyCheck } = deriveKeys(key, salt)
  const header = Buffer.concat([MAGIC, salt, keyCheck])
  yield header
  let number = 0
  let pending: Buffer = Buffer.alloc(0)
  for await (const bytes of source) {
    pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes])
    // At least one byte stays, because the last chunk is marked.
    while (pending.length > CHUNK_BYTES) {
      yield encryptChunk(pending.subarray(0, CHUNK_BYTES), number++, false)
      pending = pending.subarray(CHUNK_BYTES)
    }
  }
  yield encryptChunk(pending, number, true)

  function encryptChunk(plain: Buffer, chunkNumber: number, isLast: boolean): Buffer {
    const cipher = createCipheriv('aes-256-gcm', fileKey, nonceOf(chunkNumber, isLast)).setAAD(header)
    const ciphertext = Buffer.concat([cipher.update(plain), cipher.final()])
    const chunkHeader = Buffer.alloc(CHUNK_HEADER_BYTES)
    chunkHeader.writeUInt8(isLast ? 1 : 0)
    chunkHeader.writeUInt32BE(ciphertext.length, 1)
    return Buffer.concat([chunkHeader, ciphertext, cipher.getAuthTag()])
  }
}

/** Decrypts a stream of `encryptStream`. Throws a BackupError if the key is wrong, or a byte was changed, added or removed. */
export async function* decryptStream(source: AsyncIterable<Buffer>, key: Buffer): AsyncGenerator<Buffer> {
  const reader = new ByteReader(source)
  try {
    yield* decryptChunks(reader, key)
  } finally {
    await reader.close()
  }
}

async function* decryptChunks(reader: ByteReader, key: Buffer): AsyncGenerator<Buffer> {
  const header = await reader.read(HEADER_BYTES)
  if (!header?.subarray(0, MAGIC.length).equals(MAGIC))
    throw new BackupError('this is not an Attestry backup: it does not begin with the mark of one')
  const salt = header.subarray(MAGIC.length, MAGIC.length + SALT_BYTES)
  const { fileKey, keyCheck } = deriveKeys(key, salt)
  if (!timingSafeEqual(header.subarray(MAGIC.length + SALT_BYTES), keyCheck))
    throw new BackupError(
      'BACKUP_KEY is not the key that this backup was encrypted with, or the first bytes of the backup were changed; set the key that was set when the backup was made',
    )
  for (let number = 0; ; number++) {
    const chunkHeader = await reader.read(CHUNK_HEADER_BYTES)
    if (!chunkHeader) throw truncatedError()
    const isLast = chunkHeader.readUInt8() === 1
    const length = chunkHeader.readUInt32BE(1)
    if (length > CHUNK_BYTES) throw changedError(number)
    const body = await reader.read(length + TAG_BYTES)
    if (!body) throw truncatedError()
    const decipher = createDecipheriv('aes-256-gcm', fileKey, nonceOf(number, isLast), { authTagLength: TAG_BYTES })
      .setAAD(header)
      .setAuthTag(body.subarray(length))
    try {
      yield Buffer.concat([decipher.update(body.subarray(0, length)), decipher.final()])
    } catch (error) {
      throw (error as Error).message.includes('unable to authenticate') ? changedError(number) : error
    }
    if (!isLast) continue
    if (await reader.read(1))
      throw new BackupError('the backup has bytes after its end, so it was changed; use another one')
    return
  }
}

function truncatedError(): BackupError {
  return new BackupError('the backup is incomplete: it ends before its last part; use another one')
}

function changedError(chunkNumber: number): BackupError {
  return new BackupError(
    `the backup was changed or damaged near byte ${HEADER_BYTES + chunkNumber * (CHUNK_HEADER_BYTES + CHUNK_BYTES + TAG_BYTES)}; use another one`,
  )
}

function deriveKeys(key: Buffer, salt: Buffer) {
  const derived = Buffer.from(hkdfSync('sha256', key, salt, 'attestry backup 1', 32 + KEY_CHECK_BYTES))
  return { fileKey: derived.subarray(0, 32), keyCheck: derived.subarray(32) }
}

function nonceOf(chunkNumber: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES)
  nonce.writeUInt32BE(chunkNumber, NONCE_BYTES - 5)
  nonce.writeUInt8(isLast ? 1 : 0, NONCE_BYTES - 1)
  return nonce
}

/** Reads a stream in parts of given lengths. */
export class ByteReader {
  readonly #iterator: AsyncIterator<Buffer>
  #buffered: Buffer[] = []
  #bufferedBytes = 0

  constructor(source: AsyncIterable<Buffer>) {
    this.#iterator = source[Symbol.asyncIterator]()
  }

  /** Closes the stream, whether or not it was read to its end. */
  async close(): Promise<void> {
    await this.#iterator.return?.()
  }

  /** Returns exactly `length` bytes, or undefined if fewer are left. */
  async read(length: number): Promise<Buffer | undefined> {
    while (this.#bufferedBytes < length) {
      const { value, done } = await this.#iterator.next()
      if (done) return undefined
      this.#buffered.push(value)
      this.#bufferedBytes += value.length
    }
    const all = this.#buffered.length === 1 ? this.#buffered[0]! : Buffer.concat(this.#buffered)
    const rest = all.subarray(length)
    this.#buffered = rest.length > 0 ? [rest] : []
    this.#bufferedBytes = rest.length
    return all.subarray(0, length)
  }
}
