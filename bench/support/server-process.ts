import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { findFreePort } from '../../test/support/free-port.ts'
import { until } from '../../test/support/until.ts'

export const ROOT = new URL('../..', import.meta.url).pathname

/** A server process, of this version or of another one. */
export interface ServerProcess {
  url: string
  child: ChildProcess
  stop(): Promise<void>
}

interface ServerProcessOptions {
  /** Folder of the version to start. */
  folder?: string
  env: NodeJS.ProcessEnv
  roles: 'api' | 'worker'
}

/** Starts a server process and waits until it is ready. */
export async function startServerProcess({ folder = ROOT, env, roles }: ServerProcessOptions): Promise<ServerProcess> {
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}`
  const child = spawn(process.execPath, ['--max-semi-space-size=8', join(folder, 'server/main.ts')], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, LOG_LEVEL: 'silent', DRAIN_SECONDS: '0', ...env, PORT: String(port), ROLES: roles },
  })
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`the server exited with ${child.exitCode} before it was ready`)
    return isReady(url)
  }, 120_000)
  return {
    url,
    child,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
    },
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5000) })).ok
  } catch {
    return false
  }
}
