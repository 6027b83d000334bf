import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const BUILD_SCRIPT = `${ROOT}web/build.ts`
/** Everything that the pages are built from; web/build.ts selects the files. */
const SOURCES = ['web', 'docs/pictures', 'package.json']
/** Lists the sources of the built pages with their sizes and the times of their last changes. */
const STAMPS_FILE = `${ROOT}web/dist/sources.txt`

/**
 * Builds the web pages if their sources changed since the last build. Runs in a child process, so that its memory is freed. A release
 * contains the built pages and not the sources, so nothing is built. The child process compares the contents of the sources, which takes more
 * CPU time than to start the database. It is not started if no source has another size or time than after the last check.
 */
export async function buildPages(): Promise<void> {
  if (!existsSync(BUILD_SCRIPT)) return
  const stamps = SOURCES.flatMap(listStamps).join('\n')
  if (stamps === readStamps()) return
  await new Promise<void>((resolve, reject) => {
    const child = spawn(process.execPath, [BUILD_SCRIPT], { stdio: ['ignore', 'inherit', 'inherit'] })
    child.on('error', reject)
    child.on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error('building the web pages failed; see the output above')),
    )
  })
  try {
    writeFileSync(STAMPS_FILE, stamps)
  } catch {
    // The folder is not writable: the next start compares the contents again.
  }
}

function readStamps(): string | undefined {
  try {
    return readFileSync(STAMPS_FILE, 'utf8')
  } catch {
    return undefined
  }
}

function listStamps(path: string): string[] {
  const stats = statSync(ROOT + path, { throwIfNoEntry: false })
  if (!stats) return []
  if (!stats.isDirectory()) return [`${path} ${stats.mtimeMs} ${stats.size}`]
  return readdirSync(ROOT + path)
    .filter((name) => !name.startsWith('dist'))
    .sort()
    .flatMap((name) => listStamps(`${path}/${name}`))
}
