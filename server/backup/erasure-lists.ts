import { randomBytes } from 'node:crypto'
import type { Erasure } from '../people/erasures.ts'
import type { BackupDestination } from './destination.ts'
import { BackupError, decryptStream, encryptStream } from './encryption.ts'

/** Suffix of the lists of erasures, which are next to the backups. */
const LIST_NAME_PATTERN = /^attestry-\d{8}T\d{6}Z-[0-9a-f]{6}\.attestry-erasures$/

export interface ErasureLists {
  erasures: Erasure[]
  /** Names of the lists that were read. */
  names: string[]
  /** Names of the lists that are damaged, or encrypted with another key. */
  unreadable: string[]
}

/**
 * Writes a list of erasures next to the backups. It is encrypted like them, so that nobody without the key can add an erasure. A list never
 * replaces another one, so that no erasure is lost.
 */
export async function writeErasureList(
  destination: BackupDestination,
  key: Buffer,
  erasures: readonly Erasure[],
  now: number,
): Promise<string> {
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')
  const name = `attestry-${time}-${randomBytes(3).toString('hex')}.attestry-erasures`
  const content = Buffer.from(JSON.stringify(erasures))
  await destination.write(
    name,
    encryptStream(
      (async function* () {
        yield content
      })(),
      key,
    ),
  )
  return name
}

/** Returns the erasures of all lists at a destination. */
export async function readErasureLists(destination: BackupDestination, key: Buffer): Promise<ErasureLists> {
  const erasures = new Map<string, Erasure>()
  const names: string[] = []
  const unreadable: string[] = []
  for (const { name } of await destination.list((each) => LIST_NAME_PATTERN.test(each))) {
    try {
      const parts: Buffer[] = []
      for await (const part of decryptStream(destination.read(name), key)) parts.push(part)
      for (const erasure of JSON.parse(Buffer.concat(parts).toString()) as Erasure[])
        erasures.set(erasure.person_id, erasure)
      names.push(name)
    } catch (error) {
      if (!(error instanceof BackupError)) throw error
      unreadable.push(name)
    }
  }
  return { erasures: [...erasures.values()], names, unreadable }
}

/** Replaces the lists at a destination with one that has the erasures of all of them, and the given ones. */
export async function mergeErasureLists(
  destination: BackupDestination,
  key: Buffer,
  erasures: readonly Erasure[],
  now: number,
): Promise<void> {
  const existing = await readErasureLists(destination, key)
  const all = new Map([...existing.erasures, ...erasures].map((erasure) => [erasure.person_id, erasure]))
  await writeErasureList(destination, key, [...all.values()], now)
  for (const name of existing.names) await destination.remove(name)
}
