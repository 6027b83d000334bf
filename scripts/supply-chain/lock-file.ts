import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface LockedPackage {
  /** Path in the project, such as `node_modules/pg`. */
  path: string
  name: string
  version: string
  /** SPDX expression. */
  licence: string | undefined
  /** Subresource Integrity value of the package's archive. */
  integrity: string | undefined
  /** The source, if it is not the registry. */
  resolved: string | undefined
  /** Whether the package is installed only for development. */
  isDev: boolean
}

interface LockEntry {
  name?: string
  version?: string
  license?: string
  integrity?: string
  resolved?: string
  dev?: boolean
  link?: boolean
}

/** Licences of packages whose package.json has no SPDX expression, read in their licence files. Check them again with a new version. */
const LICENCES_IN_FILES: Record<string, string> = {
  '@digitalbazaar/credentials-context@3.2.0': 'BSD-3-Clause AND W3C-20150513',
  '@digitalcredentials/ed25519-multikey@1.4.0': 'BSD-3-Clause',
  'base-64@0.1.0': 'MIT',
  'credentials-context@2.0.0': 'BSD-3-Clause AND W3C-20150513',
  'did-context@3.1.1': 'BSD-3-Clause AND W3C-20150513',
  'png-js@2.0.0': 'MIT',
}

/** Returns the packages of package-lock.json, without the packages of this repository. */
export function readLockedPackages(root: string): LockedPackage[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockEntry>
  }
  return Object.entries(packages)
    .filter(([path, entry]) => path.includes('node_modules/') && !entry.link)
    .map(([path, entry]) => {
      const name = entry.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
      return {
        path,
        name,
        version: entry.version ?? '',
        licence: LICENCES_IN_FILES[`${name}@${entry.version}`] ?? entry.license,
        integrity: entry.integrity,
        resolved: entry.resolved,
        isDev: entry.dev === true,
      }
    })
}

/** Returns a message for each package that npm could replace without a change to the lock file. */
export function checkSources(packages: LockedPackage[]): string[] {
  return packages.flatMap(({ path, integrity, resolved }) => {
    if (resolved !== undefined)
      return [`${path} is installed from ${resolved}: use a release from the registry, and record no address`]
    if (!integrity?.startsWith('sha512-'))
      return [`${path} has no SHA-512 hash in package-lock.json: run npm install to add it`]
    return []
  })
}
