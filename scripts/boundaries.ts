import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync, Visitor } from 'vite'

// Checks every import, type-only and dynamic ones included, against boundaries.txt, and that no files import each other in a
// cycle.
//   node scripts/boundaries.ts

/** The patterns that the files of an entry may import, by entry. */
export type Boundaries = Map<string, string[]>

interface Import {
  /** Path from the root, or undefined for a dynamic import whose path is computed. */
  target: string | undefined
  line: number
}

const SOURCE = /\.[cm]?[jt]sx?$/
const TEST = /\.test\.tsx?$/
/** Installed packages and hidden folders anywhere, and the folders of build output. */
const SKIPPED_FOLDER = /(^|\/)(node_modules|\.[^/]*)$|^web\/dist[^/]*$|^sdk\/dist$/

export function parseBoundaries(text: string): Boundaries {
  const boundaries: Boundaries = new Map()
  const abbreviations = new Map<string, string[]>()
  const lines = text.replace(/^#.*\n/gm, '').replace(/\n[ \t]+/g, ' ')
  for (const line of lines.split('\n').filter(Boolean)) {
    const [, name, separator, rest] = /^(\S+?)(:| =)(.*)$/.exec(line) ?? []
    if (name === undefined)
      throw new Error(`boundaries.txt: expected "folder: imports" or "name = imports"; got "${line}"`)
    const names = rest!.split(' ').filter(Boolean)
    if (separator === ':')
      boundaries.set(
        name,
        names.flatMap((word) => abbreviations.get(word) ?? [word]),
      )
    else abbreviations.set(name, names)
  }
  return boundaries
}

/** Returns one message per violation. */
export function checkBoundaries(root: string, boundaries: Boundaries): string[] {
  const files = findSources(root)
  const packages = findWorkspaces(root)
  const imports = new Map(files.map((file) => [file, readImports(root, file, packages)]))
  return [...findStaleEntries(root, files, boundaries), ...findForbidden(imports, boundaries), ...findCycles(imports)]
}

function findStaleEntries(root: string, files: string[], boundaries: Boundaries): string[] {
  const exists = (pattern: string) => existsSync(join(root, pattern)) || files.some((file) => matches(pattern, file))
  const messages: string[] = []
  for (const [entry, allowed] of boundaries) {
    if (!exists(entry)) messages.push(`boundaries.txt: "${entry}" does not exist; remove the entry.`)
    for (const pattern of allowed.filter((pattern) => !exists(pattern)))
      messages.push(`boundaries.txt: "${entry}" allows "${pattern}", which does not exist; remove it.`)
  }
  return messages
}

function findForbidden(imports: Map<string, Import[]>, boundaries: Boundaries): string[] {
  const messages: string[] = []
  const foldersWithoutEntry = new Set<string>()
  for (const [file, found] of imports) {
    const entry = entryOf(file)
    if (entry === undefined) {
      const folder = dirname(file)
      if (!foldersWithoutEntry.has(folder))
        messages.push(
          `${file}:1: the folder "${folder}" has no entry in boundaries.txt; add one that lists the folders it may import from.`,
        )
      foldersWithoutEntry.add(folder)
      continue
    }
    const allowed = boundaries.get(entry)!
    if (TEST.test(file) || allowed.includes('*')) continue
    for (const { target, line } of found) {
      if (target === undefined)
        messages.push(
          `${file}:${line}: the path of this import is computed and cannot be checked; use a string literal.`,
        )
      else if (entryOf(target) !== entry && !allowed.some((pattern) => matches(pattern, target)))
        messages.push(
          `${file}:${line}: "${entry}" must not import ${target}. Move the code to a folder that both may import, or call it through a hook registered in server/handlers.ts. If the dependency is intended, allow it in boundaries.txt.`,
        )
    }
  }
  return messages

  function entryOf(file: string): string | undefined {
    const entries = [...boundaries.keys()].filter((entry) => matches(entry, file))
    return entries.sort((a, b) => b.length - a.length)[0]
  }
}

function matches(pattern: string, path: string): boolean {
  if (pattern === '*') return true
  if (pattern.endsWith('/*')) return dirname(path) === pattern.slice(0, -2)
  return path === pattern || path.startsWith(`${pattern}/`)
}

function findSources(root: string, folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return SKIPPED_FOLDER.test(path) ? [] : findSources(root, path)
    return SOURCE.test(entry.name) ? [path] : []
  })
}

/** Returns the folder of each package of this repository, by its name. */
function findWorkspaces(root: string): Map<string, string> {
  const read = (folder: string) => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
  const { workspaces = [] }: { workspaces?: string[] } = read('')
  return new Map(workspaces.map((folder) => [read(folder).name, folder]))
}

function readImports(root: string, file: string, packages: Map<string, string>): Import[] {
  const text = readFileSync(join(root, file), 'utf8')
  const { program, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]!.message}`)
  const imports: Import[] = []
  const add = ({ start, value }: { start: number; value?: unknown }) => {
    const target = typeof value === 'string' ? targetOf(value) : undefined
    if (target === 'external') return
    imports.push({ target, line: text.slice(0, start).split('\n').length })
  }
  new Visitor({
    ImportDeclaration: ({ source }) => add(source),
    ExportAllDeclaration: ({ source }) => add(source),
    ExportNamedDeclaration: ({ source }) => source && add(source),
    ImportExpression: ({ source }) => add(source),
    TSImportType: ({ source }) => add(source),
    TSExternalModuleReference: ({ expression }) => add(expression),
    CallExpression: ({ callee, arguments: [path] }) =>
      callee.type === 'Identifier' && callee.name === 'require' && path && add(path),
  }).visit(program)
  return imports

  /** Returns a path from the root, or `external` for other packages and the modules of Node.js. */
  function targetOf(specifier: string): string {
    if (specifier.startsWith('.')) return join(dirname(file), specifier)
    const name = specifier
      .split('/')
      .slice(0, specifier.startsWith('@') ? 2 : 1)
      .join('/')
    return packages.get(name) ?? 'external'
  }
}

/** Returns a message for each group of files that import each other, with one shortest cycle of the group. */
function findCycles(imports: Map<string, Import[]>): string[] {
  const messages: string[] = []
  const reported = new Set<string>()
  for (const start of imports.keys()) {
    if (reported.has(start)) continue
    const cycle = shortestCycle(imports, start)
    if (!cycle) continue
    for (const { file } of cycle) reported.add(file)
    const path = cycle.map(({ file, line }) => `${file}:${line}`).join(' → ')
    messages.push(
      `${start}:${cycle[0]!.line}: import cycle: ${path} → ${start}. Move the shared declaration to a file of its own.`,
    )
  }
  return messages
}

function shortestCycle(imports: Map<string, Import[]>, start: string): { file: string; line: number }[] | undefined {
  const cameFrom = new Map<string, { file: string; line: number }>()
  const queue = [start]
  for (const file of queue) {
    for (const { target, line } of imports.get(file) ?? []) {
      if (target === undefined || cameFrom.has(target)) continue
      cameFrom.set(target, { file, line })
      if (target !== start) {
        queue.push(target)
        continue
      }
      const cycle = [cameFrom.get(start)!]
      while (cycle[0]!.file !== start) cycle.unshift(cameFrom.get(cycle[0]!.file)!)
      return cycle
    }
  }
  return undefined
}

if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const messages = checkBoundaries(root, parseBoundaries(readFileSync(join(root, 'boundaries.txt'), 'utf8')))
  for (const message of messages) console.error(message)
  if (messages.length > 0) process.exitCode = 1
}
