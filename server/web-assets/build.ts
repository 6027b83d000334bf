import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const SCRIPT = fileURLToPath(new URL('../../web/build.ts', import.meta.url))

/** Makes the web pages where their sources changed since the last time; in a process of its own, whose memory is given back. */
export function buildPages(): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [SCRIPT], { stdio: ['ignore', 'inherit', 'inherit'] })
    child.on('error', reject)
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error('the web pages could not be built'))))
  })
}
