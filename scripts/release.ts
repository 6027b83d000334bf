import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildPages } from '../server/web-assets/build.ts'
import { bundlesFolder } from './modules/bundled-packages.mjs'
import { programFolder, writeProgramBundles } from './modules/bundled-program.mjs'
import { parseOptions } from './parse-options.ts'
import { DATABASE_PACKAGE, findRuntimePackages, NODE_PACKAGE } from './release/packages.ts'
import { findSourceFiles } from './release/source-files.ts'

// Writes a release: a folder and an archive with the built pages and only the packages that the server needs at run time.
//   npm run release                                  writes release/attestry-VERSION/ and release/attestry-VERSION.tar.gz
//   npm run release -- --output FOLDER               writes them to another folder
//   npm run release -- --with-node                   adds the Node.js binary of package-lock.json for this platform
//   npm run release -- --without-embedded-database   leaves out the embedded PostgreSQL: DATABASE_URL is then required
//   npm run release -- --no-archive                  writes only the folder

/** The first version with `await using`, which the server uses. */
const MIN_NODE_MAJOR = 24

/** Files that the server reads at run time, and the texts that a release must contain. */
const DATA_PATHS = [
  'data',
  'docs',
  'openapi',
  'collections',
  'migrations',
  'scripts/modules/resolve-modules.mjs',
  'web/dist',
  'sdk/README.md',
  'CHANGELOG.md',
  'LICENSE',
  'NOTICE',
  'README.md',
]
/** Files of packages that no program reads at run time. */
const UNUSED_PACKAGE_FILE = /\.(d\.[cm]?ts|map|tsbuildinfo)$|\.a$/

/** As deep as the folder in which the program is bundled, because it finds its files by relative paths. */
const PROGRAM_PATH = 'node_modules/.cache/attestry-program/release'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values: options } = parseOptions({
  output: { type: 'string', default: join(root, 'release') },
  'with-node': { type: 'boolean', default: false },
  'without-embedded-database': { type: 'boolean', default: false },
  'no-archive': { type: 'boolean', default: false },
})

const packageJson = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const name = `attestry-${packageJson.version}`
const output = resolve(options.output)
const folder = join(output, name)
const embeddedDatabase = !options['without-embedded-database']

await buildPages()
rmSync(folder, { recursive: true, force: true })
const packagePaths = findRuntimePackages(root, { embeddedDatabase })
copySources()
for (const path of DATA_PATHS) copy(path)
rmSync(join(folder, 'web/dist/sources.txt'), { force: true }) // the times of the source files, which a release does not contain
for (const path of readdirSync(join(root, 'sdks'))) if (path !== 'vectors.json') copyIfPresent(`sdks/${path}/README.md`)
for (const path of packagePaths) copyPackage(path)
cpSync(bundlesFolder(), join(folder, 'bundled-packages'), { recursive: true })
if (!existsSync(programFolder())) await writeProgramBundles()
cpSync(programFolder(), join(folder, PROGRAM_PATH), { recursive: true })
if (options['with-node']) copyNode()
writePackageJson()
writeLauncher()
makeReadable(folder)
console.log(`Wrote ${folder}: ${packagePaths.length} packages, ${megabytes(folder)} MB.`)
if (!options['no-archive']) writeArchive()

/** Copies the source files that the program loads. Throws if one imports a package that the release does not contain. */
function copySources() {
  const { files, packages } = findSourceFiles(root)
  const missing = packages.filter((each) => !packagePaths.includes(`node_modules/${each}`))
  if (missing.length > 0)
    throw new Error(
      `the server imports ${missing.join(', ')}, which a release does not contain; add it to the dependencies in package.json`,
    )
  for (const file of files) if (file !== 'package.json') copy(file)
}

function copy(path: string) {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  cpSync(join(root, path), join(folder, path), { recursive: true })
}

function copyIfPresent(path: string) {
  if (lstatSync(join(root, path), { throwIfNoEntry: false })) copy(path)
}

function copyPackage(path: string) {
  const source = join(root, path)
  cpSync(source, join(folder, path), {
    recursive: true,
    verbatimSymlinks: true,
    // Packages inside this one are copied only if they are needed themselves.
    filter: (from) => from !== join(source, 'node_modules') && !UNUSED_PACKAGE_FILE.test(from),
  })
}

/** Copies the Node.js binary and its licence. */
function copyNode() {
  const source = join(root, 'node_modules', NODE_PACKAGE)
  if (!lstatSync(source, { throwIfNoEntry: false }))
    throw new Error(`--with-node: the package ${NODE_PACKAGE} is not installed; leave out the option on this platform`)
  for (const path of ['bin/node', 'LICENSE']) {
    mkdirSync(dirname(join(folder, 'node', path)), { recursive: true })
    cpSync(join(source, path), join(folder, 'node', path))
  }
}

function writePackageJson() {
  const { version, description, license, type, dependencies } = packageJson
  const included = Object.entries({
    ...dependencies,
    ...(embeddedDatabase ? { [DATABASE_PACKAGE]: packageJson.optionalDependencies[DATABASE_PACKAGE] } : {}),
  }).filter(([each]) => packagePaths.includes(`node_modules/${each}`))
  const content = {
    name: packageJson.name,
    version,
    private: true,
    description,
    license,
    type,
    engines: { node: `>=${MIN_NODE_MAJOR}` },
    bin: { attestry: 'bin/attestry' },
    dependencies: Object.fromEntries(included),
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(content, null, 2)}\n`)
}

/** Writes bin/attestry. It replaces itself with Node.js, so that signals of a supervisor reach the server directly. */
function writeLauncher() {
  mkdirSync(join(folder, 'bin'))
  const script = `#!/bin/sh
# Runs the attestry command with the Node.js in this folder, if there is one, or else with the installed one.
set -e
root=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
node=$root/node/bin/node
if [ ! -x "$node" ]; then
  node=node
  command -v node >/dev/null || { echo "attestry: Node.js ${MIN_NODE_MAJOR} or later is required, and none was found" >&2; exit 1; }
fi
# By default glibc keeps a mostly empty heap for each of a dozen threads, and V8 reserves three times 16 MB for young objects.
export MALLOC_ARENA_MAX="\${MALLOC_ARENA_MAX:-1}"
# Without "--", Node.js reads --env-file itself, and stops if the file does not exist.
exec "$node" --max-semi-space-size=8 -- "$root/bin/attestry.mjs" "$@"
`
  writeFileSync(join(folder, 'bin/attestry'), script)
  chmodSync(join(folder, 'bin/attestry'), 0o755)
  const program = `import { fileURLToPath } from 'node:url'

const major = Number(process.versions.node.split('.')[0])
if (major < ${MIN_NODE_MAJOR}) {
  console.error(\`attestry: Node.js ${MIN_NODE_MAJOR} or later is required; this is \${process.versions.node}\`)
  process.exit(1)
}
// The program is loaded from a few files. For what it loads from its sources, such as worker threads, so are packages of hundreds of modules.
const bundles = fileURLToPath(new URL('../bundled-packages', import.meta.url))
await import(\`../scripts/modules/resolve-modules.mjs?bundles=\${encodeURIComponent(bundles)}\`)
await import('../${PROGRAM_PATH}/cli.mjs')
`
  writeFileSync(join(folder, 'bin/attestry.mjs'), program)
}

/** Makes the files readable for the user that runs the server, regardless of the umask, and writable for their owner only. */
function makeReadable(path: string) {
  const { mode } = lstatSync(path)
  chmodSync(path, mode & 0o100 ? 0o755 : 0o644)
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const entryPath = join(path, entry.name)
    if (entry.isDirectory()) makeReadable(entryPath)
    else if (entry.isFile()) chmodSync(entryPath, lstatSync(entryPath).mode & 0o100 ? 0o755 : 0o644)
  }
}

function writeArchive() {
  const file = join(output, `${name}.tar.gz`)
  const { status, error } = spawnSync('tar', ['-czf', file, '-C', output, name], { stdio: 'inherit' })
  if (error || status !== 0)
    throw new Error(`writing ${file} failed${error ? `: ${error.message}` : ''}; use --no-archive to skip it`)
  console.log(`Wrote ${file}: ${megabytes(file)} MB.`)
}

function megabytes(path: string): number {
  return Math.round(countBytes(path) / 1e6)
}

function countBytes(path: string): number {
  const stats = lstatSync(path)
  if (!stats.isDirectory()) return stats.size
  return readdirSync(path).reduce((sum, name) => sum + countBytes(join(path, name)), 0)
}
