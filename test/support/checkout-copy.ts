import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Files from which `npm ci` and `npm install` compute the packages to install. */
const NPM_FILES = [
  'package.json',
  'package-lock.json',
  '.npmrc',
  'sdk/package.json',
  'test/client-generators/package.json',
]

/**
 * Makes a folder look like a checkout to commands of the documentation: it has the files of npm, and copies of the given folders, in which
 * the commands may write.
 */
export function copyCheckout(folder: string, ...folders: string[]): void {
  for (const file of NPM_FILES) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(root, file), join(folder, file))
  }
  for (const name of folders)
    cpSync(join(root, name), join(folder, name), {
      recursive: true,
      filter: (path) => !/\/(dist|node_modules|build|[^/]+\.egg-info)$/.test(path),
    })
}

/** Links installed packages into the node_modules of a copy made by `copyCheckout`. */
export function linkPackages(folder: string, packages: string[]): void {
  for (const name of packages) {
    const link = join(folder, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), link)
  }
}

/**
 * A shell function that runs npm. `npm ci` and `npm install` in the checkout resolve all packages of the lock file, but download none, because
 * tests do not use the network.
 */
export const NPM_WITHOUT_DOWNLOADS = `npm() {
  case "$*" in
    ci*|"install --ignore-scripts") command npm "$@" --dry-run --offline --loglevel=error >/dev/null ;;
    *) command npm "$@" --no-audit --no-fund --loglevel=error ;;
  esac
}`
