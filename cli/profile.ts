import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { readDemoKeys, readServerAddress } from '../server/access/demo.ts'
import type { Environment } from '../server/config.ts'
import { parseJsonOrUndefined } from '../server/platform/json.ts'

/** The server that receives signed calls, and the key that signs them. */
export interface Profile {
  baseUrl: string
  keyId: string
  secret: string
}

const DEFAULT_BASE_URL = 'http://127.0.0.1:8080'

export async function readProfile(env: Environment): Promise<Profile> {
  const baseUrl = env.ATTESTRY_URL
  if (env.ATTESTRY_KEY_ID && env.ATTESTRY_SECRET) {
    return { baseUrl: baseUrl ?? DEFAULT_BASE_URL, keyId: env.ATTESTRY_KEY_ID, secret: env.ATTESTRY_SECRET }
  }
  if (env.ATTESTRY_KEY_ID || env.ATTESTRY_SECRET)
    throw new Error('set both ATTESTRY_KEY_ID and ATTESTRY_SECRET, or neither')
  const saved = await readProfileFile(profilePath(env))
  if (saved) return { ...saved, ...(baseUrl ? { baseUrl } : {}) }
  const dataDir = resolve(env.DATA_DIR || '.attestry')
  const demo = await readDemoKeys(dataDir)
  if (demo)
    return {
      baseUrl: baseUrl ?? (await readServerAddress(dataDir)) ?? DEFAULT_BASE_URL,
      keyId: demo.key_id,
      secret: demo.secret,
    }
  throw new Error(
    'no API key found: set ATTESTRY_KEY_ID and ATTESTRY_SECRET; or, to use the demo key, run this command in the folder in which you started the server, with its DATA_DIR',
  )
}

/** Writes the profile file, readable only by its owner, and returns its path. */
export async function saveProfile(env: Environment, profile: Profile): Promise<string> {
  const path = profilePath(env)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFile(path, `${JSON.stringify(profile, null, 2)}\n`, { mode: 0o600 })
  await chmod(path, 0o600)
  return path
}

function profilePath(env: Environment): string {
  return env.ATTESTRY_PROFILE || join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'attestry', 'profile.json')
}

async function readProfileFile(path: string): Promise<Profile | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new Error(`the profile ${path} cannot be read: ${error.message}`)
  })
  if (text === undefined) return undefined
  const { mode } = await stat(path)
  if (mode & 0o077) throw new Error(`${path} contains a secret and can be read by other users; run: chmod 600 ${path}`)
  const { baseUrl, keyId, secret } = (parseJsonOrUndefined(text) ?? {}) as Partial<Profile>
  if (!baseUrl || !keyId || !secret) throw new Error(`${path} must be a JSON object with baseUrl, keyId and secret`)
  return { baseUrl, keyId, secret }
}
