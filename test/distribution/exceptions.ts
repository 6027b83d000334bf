import { readFile } from 'node:fs/promises'

const FILE = new URL('exceptions.txt', import.meta.url)
const SECTION = /^## .+\nReason: .+\nPlan: .+\n\n/

/** Reads the known violations. Each section states why they exist, and what removes them. */
export async function readExceptions(): Promise<Set<string>> {
  const [, ...sections] = (await readFile(FILE, 'utf8')).split(/^(?=## )/m)
  const entries = sections.flatMap((section) => {
    const [header] = SECTION.exec(section) ?? []
    if (header === undefined)
      throw new Error(`a section of exceptions.txt lacks its reason or plan:\n${section.slice(0, 200)}`)
    return section.slice(header.length).split('\n').filter(Boolean)
  })
  const duplicates = entries.filter((entry, index) => entries.indexOf(entry) !== index)
  if (duplicates.length > 0) throw new Error(`exceptions.txt contains twice: ${duplicates.join(', ')}`)
  return new Set(entries)
}

export interface Comparison {
  /** Violations that are not on the list. */
  added: string[]
  /** Exceptions that no longer occur. */
  removed: string[]
}

export function compare(violations: readonly string[], exceptions: ReadonlySet<string>): Comparison {
  const found = new Set(violations)
  return {
    added: [...found].filter((violation) => !exceptions.has(violation)),
    removed: [...exceptions].filter((exception) => !found.has(exception)),
  }
}
