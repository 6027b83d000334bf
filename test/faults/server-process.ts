import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Config } from '../../server/config.ts'
import { ADMIN_KEY } from '../support/app.ts'
import type { Cleanup } from '../support/cleanup.ts'
import { nodeOptions } from '../support/node-options.ts'

const SERVER = fileURLToPath(new URL('../../server/main.ts', import.meta.url))

export interface KillableServer {
  url: string
  child: ChildProcess
}

/** Starts a server process on the database of a test. The test kills the process. */
export async function startServerProcess(
  t: Cleanup,
  config: Config,
  env: object = {},
  onErrorOutput?: (text: string) => void,
): Promise<KillableServer> {
  const child = spawn(process.execPath, [...nodeOptions, SERVER], {
    stdio: ['ignore', 'pipe', onErrorOutput ? 'pipe' : 'inherit'],
    env: { ...process.env, ...databaseEnv(config), PORT: '0', LOG_LEVEL: 'error', ...env },
  })
  t.after(() => child.kill('SIGKILL'))
  if (onErrorOutput) child.stderr!.on('data', (chunk: Buffer) => onErrorOutput(chunk.toString()))
  let output = ''
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the server ended with code ${code} before it was ready: ${output}`)
  })
  ended.catch(() => {}) // a server that is ready may end
  for (;;) {
    const [chunk] = (await Promise.race([once(child.stdout!, 'data'), ended])) as [Buffer]
    output += chunk
    const url = /Attestry is running at (\S+)/.exec(output)?.[1]
    if (url) return { url, child }
  }
}

/** Returns the environment variables with which another process uses the database of a test. */
export function databaseEnv({
  databaseUrl,
  databaseOwnerUrl,
  masterKey,
}: Pick<Config, 'databaseUrl' | 'databaseOwnerUrl' | 'masterKey'>): NodeJS.ProcessEnv {
  return {
    DATABASE_URL: databaseUrl,
    DATABASE_OWNER_URL: databaseOwnerUrl,
    MASTER_KEY: masterKey!.toString('base64'),
    ADMIN_API_KEY: ADMIN_KEY,
    DATABASE_POOL_SIZE: '10', // the tests that run at the same time share 100 connections
    CATALOGUE_INDEX_ON_DEMAND: 'true', // most tests search no skills, and building the index takes a second
  }
}
