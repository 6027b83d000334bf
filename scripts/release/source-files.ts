import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

/** The command line, which also starts the server. */
const ENTRY_FILE = 'cli/main.ts'

/** Builds the pages. It is not part of a release, which contains the built pages. */
const BUILD_SCRIPT = 'web/build.ts'

/** Imports of files and packages, and files that run in worker threads. */
const IMPORT_PATTERN =
  /^(?:import|export)\s(?:[\w$*,\s]|\{[^{}()]*\})*?\bfrom '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)|\bnew URL\('([^']+\.ts)', import\.meta\.url\)/gm

interface SourceFiles {
  /** Source files that the program can load, as paths from the root. */
  files: string[]
  /** Names of the packages that these files import. */
  packages: string[]
}

/** Returns the files and packages that the command line imports, directly or indirectly. */
export function findSourceFiles(root: string): SourceFiles {
  const files = new Set<string>()
  const packages = new Set<string>()
  const waiting = [ENTRY_FILE]
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file) || file === BUILD_SCRIPT) continue
    files.add(file)
    if (!file.endsWith('.ts')) continue
    for (const { target, isTypeOnly } of readImports(readFileSync(join(root, file), 'utf8'))) {
      if (target.startsWith('node:') || isTypeOnly) continue
      if (/^\.{1,2}\//.test(target) || target.endsWith('.ts')) waiting.push(posix.join(posix.dirname(file), target))
      else packages.add(packageName(target))
    }
  }
  return { files: [...files].sort(), packages: [...packages].sort() }
}

function readImports(text: string): { target: string; isTypeOnly: boolean }[] {
  return [...text.matchAll(IMPORT_PATTERN)].map(([statement, ...targets]) => ({
    target: targets.find((target) => target !== undefined)!,
    isTypeOnly: /^(import|export) type\b/.test(statement),
  }))
}

function packageName(target: string): string {
  return target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/')
}
