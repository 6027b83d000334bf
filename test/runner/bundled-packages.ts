import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const MODULES_FOLDER = fileURLToPath(new URL('../../node_modules', import.meta.url))
const HOOK = fileURLToPath(new URL('./resolve-modules.mjs', import.meta.url))
/** The packages with the most modules, 900 of 1,400, by the names under which the server and the command line import them. */
export const BUNDLED_IMPORTS = [
  'kysely',
  'typebox',
  'typebox/compile',
  'typebox/error',
  'typebox/format',
  'typebox/guard',
  'typebox/schema',
  'typebox/system',
  'typebox/type',
  'typebox/value',
]

/**
 * Bundles the packages that consist of hundreds of modules into a few files, once per version, and returns the option of Node.js with which
 * a process loads them. It halves the time in which a process of a test run loads its modules.
 */
export async function bundlePackages(): Promise<string> {
  const folder = join(MODULES_FOLDER, '.cache/attestry-test-packages', hashSources())
  if (!existsSync(folder)) await writeBundles(folder)
  const url = pathToFileURL(HOOK)
  url.searchParams.set('bundles', folder)
  return `--import=${url.href}`
}

/** Returns a hash over everything that the bundles depend on: this file, and the versions of the packages and of the bundler. */
function hashSources(): string {
  const hash = createHash('sha256').update(readFileSync(fileURLToPath(import.meta.url)))
  for (const name of ['kysely', 'typebox', 'vite'])
    hash.update(JSON.parse(readFileSync(join(MODULES_FOLDER, name, 'package.json'), 'utf8')).version)
  return hash.digest('hex').slice(0, 16)
}

/** The folder is renamed when it is complete, so that concurrent test runs do not interfere. */
async function writeBundles(folder: string): Promise<void> {
  const { build } = await import('vite')
  const { NODE_ENV } = process.env
  const staging = `${folder}-${process.pid}`
  try {
    await build({
      configFile: false,
      publicDir: false,
      logLevel: 'warn',
      ssr: { noExternal: true },
      build: {
        ssr: true,
        outDir: staging,
        minify: false,
        target: 'esnext',
        rolldownOptions: {
          input: Object.fromEntries(BUNDLED_IMPORTS.map((name) => [name, name])),
          treeshake: false, // the tests run all the code of the packages
          preserveEntrySignatures: 'strict', // the bundles have the exports of the packages and no others
          output: { entryFileNames: '[name].mjs', chunkFileNames: 'chunks/[name]-[hash].mjs' },
        },
      },
    })
    await rename(staging, folder).catch((error) => {
      if (!existsSync(folder)) throw error
    })
  } finally {
    // Vite sets it to "production", and npm then leaves out packages for development.
    if (NODE_ENV === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = NODE_ENV
    await rm(staging, { recursive: true, force: true })
  }
}
