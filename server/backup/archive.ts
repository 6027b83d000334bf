import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { BackupError, ByteReader, decryptStream } from './encryption.ts'

// The content of a backup: a sequence of records, compressed and encrypted. A record is JSON, or rows of a table as PostgreSQL's COPY writes
// them.

const JSON_RECORD = 1
const ROWS_RECORD = 2
const RECORD_HEADER_BYTES = 5
const MAX_RECORD_BYTES = 256 * 1024 * 1024

export interface Manifest {
  kind: 'manifest'
  format: 1
  attestryVersion: string
  /** Time of the snapshot, by the clock of the database: every transaction that was committed before is in the backup. */
  takenAt: string
  postgresVersion: string
  migrations: { name: string; checksum: string }[]
  queueVersion: number
  /** Identifiers of the master keys that open the secrets. */
  masterKeyIds: string[]
  partitions: { schema: string; parent: string; name: string; bound: string }[]
  /** Secrets of the server, if the operator asked for them. */
  secrets?: { masterKey: string; adminKey: string }
}

export interface TableHeader {
  kind: 'table'
  schema: string
  name: string
  columns: string[]
}

/** Number of rows of a table, and a digest that does not depend on their order. */
export interface TableDigest {
  rows: number
  digest: string
}

export interface SequenceValue {
  schema: string
  name: string
  value: string
  isCalled: boolean
}

type JsonRecord =
  | Manifest
  | TableHeader
  | ({ kind: 'table_end' } & TableDigest)
  | { kind: 'sequences'; sequences: SequenceValue[] }
  | { kind: 'end'; tables: number }

export type ArchiveRecord = JsonRecord | { kind: 'rows'; bytes: Buffer }

export function encodeRecord(record: ArchiveRecord): Buffer {
  const payload = record.kind === 'rows' ? record.bytes : Buffer.from(JSON.stringify(record))
  const header = Buffer.alloc(RECORD_HEADER_BYTES)
  header.writeUInt8(record.kind === 'rows' ? ROWS_RECORD : JSON_RECORD)
  header.writeUInt32BE(payload.length, 1)
  return Buffer.concat([header, payload])
}

/** Decrypts a backup and returns its records. */
export async function* readArchive(source: AsyncIterable<Buffer>, key: Buffer): AsyncGenerator<ArchiveRecord> {
  const unzipped = createGunzip()
  // An error of the source, such as a wrong key, is thrown by the loop below.
  pipeline(Readable.from(decryptStream(source, key)), unzipped, () => {})
  const reader = new ByteReader(unzipped)
  try {
    for (;;) {
      const header = await reader.read(RECORD_HEADER_BYTES)
      if (!header) throw new BackupError('the backup has no end record; use another one')
      const length = header.readUInt32BE(1)
      const payload = length <= MAX_RECORD_BYTES ? await reader.read(length) : undefined
      if (!payload) throw new BackupError('the backup has a record that cannot be read; use another one')
      if (header.readUInt8() === ROWS_RECORD) {
        yield { kind: 'rows', bytes: payload }
        continue
      }
      const record = JSON.parse(payload.toString()) as JsonRecord
      yield record
      if (record.kind === 'end') break
    }
    // Reading to the end checks that nothing was cut off or added.
    await reader.read(1)
  } finally {
    unzipped.destroy() // also closes the source
  }
}

/** Returns the manifest, which is the first record. */
export async function readManifest(records: AsyncGenerator<ArchiveRecord>): Promise<Manifest> {
  const { value } = await records.next()
  if (value?.kind !== 'manifest') throw new BackupError('the backup does not begin with a manifest; use another one')
  if (value.format !== 1)
    throw new BackupError(
      `the backup has the format ${value.format}, and this version of Attestry reads format 1; use the version that made it, ${value.attestryVersion}`,
    )
  return value
}
