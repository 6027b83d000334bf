import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const BUILD_SCRIPT = fileURLToPath(new URL('../../web/build.ts', import.meta.url))

/**
 * Builds the web pages if their sources changed since the last build. Runs in a child process, so that its memory is freed. A release
 * contains the built pages and not the sources, so nothing is built.
 */
export async function buildPages(): Promise<void> {
  if (!existsSync(BUILD_SCRIPT)) return
  await new Promise<void>((resolve, reject) => {
    const child = spawn(process.execPath, [BUILD_SCRIPT], { stdio: ['ignore', 'inherit', 'inherit'] })
    child.on('error', reject)
    child.on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error('building the web pages failed; see the output above')),
    )
  })
}
