import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync, Visitor } from 'vite'

// Checks every import, type-only and dynamic ones included, against boundaries.txt, and that no files import each other in a
// cycle.
//   node scripts/boundaries.ts

/** For each entry of boundaries.txt, the path patterns that its files may import. */
export type Boundaries = Map<string, string[]>

interface Import {
  /** The imported path from the repository root, or undefined for a dynamic import whose path is computed. */
  target: string | undefined
  line: number
}

const SOURCE_FILE = /\.[cm]?[jt]sx?$/
const TEST_FILE = /\.test\.tsx?$/
/** Matches folders that are not checked: installed packages, hidden folders and build output. */
const SKIPPED_FOLDER = /(^|\/)(node_modules|\.[^/]*)$|^web\/dist[^/]*$|^sdk\/dist$/

export function parseBoundaries(text: string): Boundaries {
  const boundaries: Boundaries = new Map()
  const abbreviations = new Map<string, string[]>()
  const joinedLines = text.replace(/^#.*\n/gm, '').replace(/\n[ \t]+/g, ' ')
  for (const line of joinedLines.split('\n').filter(Boolean)) {
    const [, name, separator, importList] = /^(\S+?)(:| =)(.*)$/.exec(line) ?? []
    if (name === undefined)
      throw new Error(`boundaries.txt: expected "folder: imports" or "name = imports"; got "${line}"`)
    const patterns = importList!.split(' ').filter(Boolean)
    if (separator === ':')
      boundaries.set(
        name,
        patterns.flatMap((word) => abbreviations.get(word) ?? [word]),
      )
    else abbreviations.set(name, patterns)
  }
  return boundaries
}

/** Returns one message per violation of the boundaries, and one per import cycle. */
export function checkBoundaries(root: string, boundaries: Boundaries): string[] {
  const files = findSourceFiles(root)
  const workspaceFolders = findWorkspaceFolders(root)
  const importsByFile = new Map(files.map((file) => [file, readImports(root, file, workspaceFolders)]))
  return [
    ...findStaleEntries(root, files, boundaries),
    ...findForbiddenImports(importsByFile, boundaries),
    ...findCycles(importsByFile),
  ]
}

function findStaleEntries(root: string, files: string[], boundaries: Boundaries): string[] {
  const exists = (pattern: string) => existsSync(join(root, pattern)) || files.some((file) => matches(pattern, file))
  const messages: string[] = []
  for (const [entry, allowedPatterns] of boundaries) {
    if (!exists(entry)) messages.push(`boundaries.txt: "${entry}" does not exist; remove the entry.`)
    for (const pattern of allowedPatterns.filter((pattern) => !exists(pattern)))
      messages.push(`boundaries.txt: "${entry}" allows "${pattern}", which does not exist; remove it.`)
  }
  return messages
}

function findForbiddenImports(importsByFile: Map<string, Import[]>, boundaries: Boundaries): string[] {
  const messages: string[] = []
  const foldersWithoutEntry = new Set<string>()
  for (const [file, fileImports] of importsByFile) {
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
    const allowedPatterns = boundaries.get(entry)!
    if (TEST_FILE.test(file) || allowedPatterns.includes('*')) continue
    for (const { target, line } of fileImports) {
      if (target === undefined)
        messages.push(
          `${file}:${line}: the path of this import is computed and cannot be checked; use a string literal.`,
        )
      else if (entryOf(target) !== entry && !allowedPatterns.some((pattern) => matches(pattern, target)))
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

function findSourceFiles(root: string, folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return SKIPPED_FOLDER.test(path) ? [] : findSourceFiles(root, path)
    return SOURCE_FILE.test(entry.name) ? [path] : []
  })
}

/** Returns the folder of each npm workspace of this repository, by package name. */
function findWorkspaceFolders(root: string): Map<string, string> {
  const readPackageJson = (folder: string) => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
  const { workspaces = [] }: { workspaces?: string[] } = readPackageJson('')
  return new Map(workspaces.map((folder) => [readPackageJson(folder).name, folder]))
}

function readImports(root: string, file: string, workspaceFolders: Map<string, string>): Import[] {
  const text = readFileSync(join(root, file), 'utf8')
  const { program, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]!.message}`)
  const imports: Import[] = []
  const addImport = ({ start, value }: { start: number; value?: unknown }) => {
    const target = typeof value === 'string' ? targetOf(value) : undefined
    if (target === 'external') return
    imports.push({ target, line: text.slice(0, start).split('\n').length })
  }
  new Visitor({
    ImportDeclaration: ({ source }) => addImport(source),
    ExportAllDeclaration: ({ source }) => addImport(source),
    ExportNamedDeclaration: ({ source }) => source && addImport(source),
    ImportExpression: ({ source }) => addImport(source),
    TSImportType: ({ source }) => addImport(source),
    TSExternalModuleReference: ({ expression }) => addImport(expression),
    CallExpression: ({ callee, arguments: [path] }) =>
      callee.type === 'Identifier' && callee.name === 'require' && path && addImport(path),
  }).visit(program)
  return imports

  /** Returns the imported path from the repository root, or `external` for other packages and the modules of Node.js. */
  function targetOf(specifier: string): string {
    if (specifier.startsWith('.')) return join(dirname(file), specifier)
    const packageName = specifier
      .split('/')
      .slice(0, specifier.startsWith('@') ? 2 : 1)
      .join('/')
    return workspaceFolders.get(packageName) ?? 'external'
  }
}

/** Returns a message for each group of files that import each other, with one shortest cycle of the group. */
function findCycles(importsByFile: Map<string, Import[]>): string[] {
  const messages: string[] = []
  const reportedFiles = new Set<string>()
  for (const startFile of importsByFile.keys()) {
    if (reportedFiles.has(startFile)) continue
    const cycle = findShortestCycle(importsByFile, startFile)
    if (!cycle) continue
    for (const { file } of cycle) reportedFiles.add(file)
    const cyclePath = cycle.map(({ file, line }) => `${file}:${line}`).join(' → ')
    messages.push(
      `${startFile}:${cycle[0]!.line}: import cycle: ${cyclePath} → ${startFile}. Move the shared declaration to a file of its own.`,
    )
  }
  return messages
}

function findShortestCycle(
  importsByFile: Map<string, Import[]>,
  startFile: string,
): { file: string; line: number }[] | undefined {
  const importers = new Map<string, { file: string; line: number }>()
  const queue = [startFile]
  for (const file of queue) {
    for (const { target, line } of importsByFile.get(file) ?? []) {
      if (target === undefined || importers.has(target)) continue
      importers.set(target, { file, line })
      if (target !== startFile) {
        queue.push(target)
        continue
      }
      const cycle = [importers.get(startFile)!]
      while (cycle[0]!.file !== startFile) cycle.unshift(importers.get(cycle[0]!.file)!)
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
