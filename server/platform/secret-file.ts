import { readFileSync, statSync } from 'node:fs'
import { resolve, sep } from 'node:path'

/** Docker mounts secrets here with mode 0444, readable only inside the container. */
const DOCKER_SECRETS_DIR = '/run/secrets'
const MAX_BYTES = 64 * 1024

const GROUP_OR_OTHERS_WRITE = 0o022
const OTHERS_READ = 0o004

/** Reads a secret from a file, without the line break at its end. Throws if other users could read or replace the secret. */
export function readSecretFile(path: string): string {
  const stats = statSync(path)
  if (!stats.isFile()) throw new Error('is not a regular file')
  if (stats.size > MAX_BYTES) throw new Error(`is larger than ${MAX_BYTES / 1024} KB`)
  if (stats.mode & GROUP_OR_OTHERS_WRITE) throw new Error(`can be changed by other users; run: chmod 600 ${path}`)
  if (stats.mode & OTHERS_READ && !resolve(path).startsWith(DOCKER_SECRETS_DIR + sep))
    throw new Error(`can be read by other users; run: chmod 600 ${path}`)
  const text = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  if (text === '') throw new Error('is empty')
  return text
}
