// Bundles the packages that consist of hundreds of modules into a few files, once per version. A process that loads the bundles, with
// resolve-modules.mjs, takes half the CPU time until its modules are loaded, and less memory. The launcher imports this file before
// anything is installed, and it is therefore plain JavaScript; run as a program, it writes the bundles.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { programFolder } from './bundled-program.mjs'

const MODULES_FOLDER = fileURLToPath(new URL('../../node_modules', import.meta.url))
const HOOK = new URL('resolve-modules.mjs', import.meta.url)
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

/** Returns the folder of the bundles of the installed versions. It exists if they are bundled. */
export function bundlesFolder() {
  return join(MODULES_FOLDER, '.cache/attestry-packages', hashSources())
}

/** Returns the option of Node.js with which a process loads the bundles, and that of its program if there is one of the current sources. */
export function bundlesOption() {
  const url = new URL(HOOK)
  url.searchParams.set('bundles', bundlesFolder())
  const program = programFolder()
  if (existsSync(program)) url.searchParams.set('program', program)
  return `--import=${url.href}`
}

/** Returns a hash over everything that the bundles depend on: this file, and the versions of the packages and of the bundler. */
function hashSources() {
  const hash = createHash('sha256').update(readFileSync(fileURLToPath(import.meta.url)))
  for (const name of ['kysely', 'typebox', 'vite'])
    hash.update(JSON.parse(readFileSync(join(MODULES_FOLDER, name, 'package.json'), 'utf8')).version)
  return hash.digest('hex').slice(0, 16)
}

/** Writes the bundles to a folder, which is renamed when it is complete, so that processes that do this at the same time do not interfere. */
async function writeBundles(folder) {
  const { build } = await import('vite')
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
    await rm(staging, { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeBundles(bundlesFolder())
