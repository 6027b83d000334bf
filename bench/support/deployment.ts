import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = new URL('../..', import.meta.url).pathname

/** A real server on an embedded database of its own. */
export interface BenchServer {
  url: string
  child: ChildProcess
  /** Milliseconds from the start of the process until /readyz answered. */
  readyAfter: number
  stop(): Promise<void>
}

export interface BenchDeployment {
  dataDir: string
  start(): Promise<BenchServer>
  cli<T>(...args: string[]): T
  remove(): void
}

export function makeDeployment(): BenchDeployment {
  const dataDir = mkdtempSync(join(tmpdir(), 'attestry-bench-'))
  const env = { ...process.env, DATA_DIR: dataDir, LOG_LEVEL: 'error' }
  return {
    dataDir,
    async start() {
      const port = 20_000 + Math.floor(Math.random() * 20_000)
      const started = performance.now()
      const child = spawn('node', [join(root, 'scripts/launch.mjs'), 'start'], {
        env: { ...env, PORT: String(port) },
        stdio: 'ignore',
      })
      const url = `http://127.0.0.1:${port}`
      while (
        !(await fetch(`${url}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        ))
      ) {
        if (child.exitCode !== null) throw new Error('the server did not start')
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      return {
        url,
        child,
        readyAfter: performance.now() - started,
        async stop() {
          const gone = once(child, 'exit')
          child.kill('SIGTERM')
          await gone
        },
      }
    },
    cli(...args) {
      const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'cli/main.ts'), ...args, '--json'], {
        env,
        encoding: 'utf8',
      })
      if (status !== 0) throw new Error(stderr)
      return JSON.parse(stdout)
    },
    remove: () => rmSync(dataDir, { recursive: true, force: true }),
  }
}

/** Resident memory of the server's process in megabytes, as it reports it itself. */
export async function residentMegabytes(url: string): Promise<number> {
  const figures = await (await fetch(`${url}/metrics`)).text()
  return Number(/^process_resident_memory_bytes (\S+)/m.exec(figures)![1]) / 1024 / 1024
}
