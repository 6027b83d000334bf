import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { readDemoKeys, readServerAddress } from '../server/access/demo-files.ts'
import { parseJsonOrUndefined } from '../server/platform/json.ts'

/** The server that receives signed calls, and the key that signs them. */
export interface Profile {
  baseUrl: string
  keyId: string
  secret: string
}

export interface FoundProfile extends Profile {
  /** Where the key was found, for messages: "the environment", "the profile acme". */
  source: string
}

type Environment = NodeJS.ProcessEnv

/**
 * Returns the key for signed calls: the profile with the given name, otherwise the first that exists of the environment, `.env` in the
 * current folder, the default profile, and the demo keys in DATA_DIR. Throws if the address of the server is not known.
 */
export async function readProfile(env: Environment, name?: string): Promise<FoundProfile> {
  if (name !== undefined) return readNamedProfile(env, name)
  const dataDir = resolve(env.DATA_DIR || '.attestry')
  return (
    (await keyFromVariables(env, 'the environment', dataDir)) ??
    (await keyFromVariables(await readEnvFile(env), 'the file .env', dataDir)) ??
    (await defaultProfile(env)) ??
    (await demoKey(env, dataDir)) ??
    fail(
      'no API key found: set ATTESTRY_URL, ATTESTRY_KEY_ID and ATTESTRY_SECRET, in the environment or in a file .env; or save them with "attestry profile save NAME" and add --profile NAME; or, to use the demo key, run this command in the folder in which you started the server, with its DATA_DIR',
    )
  )
}

/** Returns one line that names the server and the key. */
export function describeProfile({ baseUrl, keyId, source }: FoundProfile): string {
  const mode = /^VFN_LIVE_/.test(keyId) ? 'LIVE' : 'TEST'
  return `${mode} key ${keyId} of ${source}, server ${baseUrl}`
}

export function isLiveKey({ keyId }: Profile): boolean {
  return keyId.startsWith('VFN_LIVE_')
}

/** Writes a profile, readable only by its owner, and returns its path. Without a name, it becomes the default profile. */
export async function saveProfile(env: Environment, { baseUrl, keyId, secret }: Profile, name?: string) {
  const path = profilePath(env, name)
  await writePrivateFile(path, `${JSON.stringify({ baseUrl, keyId, secret }, null, 2)}\n`)
  return path
}

/** Returns the names and contents of all profiles; the default profile has no name. */
export async function listProfiles(env: Environment): Promise<{ name: string | null; profile: Profile }[]> {
  const defaultProfile = await readProfileFile(profilePath(env))
  const files = await readdir(dirname(profilePath(env, 'any'))).catch(() => [])
  const names = files.filter((file) => file.endsWith('.json')).map((file) => basename(file, '.json'))
  const named = await Promise.all(
    names.sort().map(async (name) => ({ name, profile: (await readProfileFile(profilePath(env, name)))! })),
  )
  return [...(defaultProfile ? [{ name: null, profile: defaultProfile }] : []), ...named]
}

export async function removeProfile(env: Environment, name: string): Promise<void> {
  await readNamedProfile(env, name)
  await rm(profilePath(env, name))
}

export function isProfileName(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text)
}

/** Returns the path of a file next to the profiles, for other values that commands keep between runs. */
export function settingsPath(env: Environment, fileName: string): string {
  return join(dirname(profilePath(env)), fileName)
}

export async function writePrivateFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFile(path, text, { mode: 0o600 })
  await chmod(path, 0o600)
}

async function readNamedProfile(env: Environment, name: string): Promise<FoundProfile> {
  const profile = isProfileName(name) ? await readProfileFile(profilePath(env, name)) : undefined
  if (profile) return { ...profile, source: `the profile ${name}` }
  const names = (await listProfiles(env)).flatMap((listed) => listed.name ?? [])
  throw new Error(
    `there is no profile ${name}; ${names.length > 0 ? `expected one of ${names.join(', ')}` : 'create one with "attestry profile save NAME"'}`,
  )
}

async function keyFromVariables(
  variables: Environment,
  source: string,
  dataDir: string,
): Promise<FoundProfile | undefined> {
  const { ATTESTRY_URL, ATTESTRY_KEY_ID: keyId, ATTESTRY_SECRET: secret } = variables
  if (!keyId && !secret) return undefined
  if (!keyId || !secret) {
    const [missing, present] = keyId ? ['ATTESTRY_SECRET', 'ATTESTRY_KEY_ID'] : ['ATTESTRY_KEY_ID', 'ATTESTRY_SECRET']
    throw new Error(`${missing} is missing in ${source}, which has ${present}: set both, or neither`)
  }
  const baseUrl = ATTESTRY_URL || (await readServerAddress(dataDir))
  if (!baseUrl)
    throw new Error(
      `${source} has a key but no server: set ATTESTRY_URL to its address, such as http://127.0.0.1:8080 or https://verify.example.com`,
    )
  return { baseUrl, keyId, secret, source }
}

/** Returns the variables of `.env` in the current folder that concern signed calls. ATTESTRY_URL of the environment comes first. */
async function readEnvFile(env: Environment): Promise<Environment> {
  const text = await readFile('.env', 'utf8').catch(() => '')
  // The file can belong to another program, so that only lines for this one are checked.
  const invalidLine = text
    .split('\n')
    .findIndex((line) => /^[^#]*(ATTESTRY_|VFN_)/.test(line) && !/^\s*(export\s+)?[A-Za-z_]\w*\s*=/.test(line))
  if (invalidLine >= 0) throw new Error(`the file .env, line ${invalidLine + 1} is not valid: expected NAME=value`)
  const { ATTESTRY_URL, ATTESTRY_KEY_ID, ATTESTRY_SECRET } = parseEnv(text) as Environment
  return { ATTESTRY_URL: env.ATTESTRY_URL || ATTESTRY_URL, ATTESTRY_KEY_ID, ATTESTRY_SECRET }
}

async function defaultProfile(env: Environment): Promise<FoundProfile | undefined> {
  const profile = await readProfileFile(profilePath(env))
  if (!profile) return undefined
  const source = `the profile ${profilePath(env)}`
  return { ...profile, ...(env.ATTESTRY_URL ? { baseUrl: env.ATTESTRY_URL } : {}), source }
}

async function demoKey(env: Environment, dataDir: string): Promise<FoundProfile | undefined> {
  const demo = await readDemoKeys(dataDir)
  if (!demo) return undefined
  const localUrl = await readServerAddress(dataDir)
  const baseUrl = env.ATTESTRY_URL || localUrl
  if (baseUrl && baseUrl !== localUrl && !isLoopback(baseUrl))
    throw new Error(
      `ATTESTRY_URL is set without a key: set ATTESTRY_KEY_ID and ATTESTRY_SECRET too. To use the demo key in ${dataDir}, which belongs to the server on this machine, unset ATTESTRY_URL`,
    )
  if (!baseUrl)
    throw new Error(
      `no server has been started with the data in ${dataDir}: start it with "npm start", or set ATTESTRY_URL`,
    )
  return { baseUrl, keyId: demo.key_id, secret: demo.secret, source: `the demo keys in ${dataDir}` }
}

function isLoopback(url: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(URL.parse(url)?.hostname ?? '')
}

function profilePath(env: Environment, name?: string): string {
  const folder = join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'attestry')
  const defaultPath = env.ATTESTRY_PROFILE || join(folder, 'profile.json')
  return name === undefined ? defaultPath : join(dirname(defaultPath), 'profiles', `${name}.json`)
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

function fail(message: string): never {
  throw new Error(message)
}
