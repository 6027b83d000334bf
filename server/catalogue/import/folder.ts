import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** The files of a download, by the beginning of their names; says which are missing. */
export async function findFiles<Name extends string>(
  folder: string,
  what: string,
  patterns: Record<Name, RegExp>,
): Promise<Record<Name, string>> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new Error(`${folder}: there is no such folder`)
    if (error.code === 'ENOTDIR') throw new Error(`${folder}: expected ${what}, not a file`)
    throw error
  })
  const found = {} as Record<Name, string>
  const missing: string[] = []
  for (const [name, pattern] of Object.entries(patterns) as [Name, RegExp][]) {
    const matches = names.filter((file) => pattern.test(file)).sort()
    const file = matches.find((match) => match.endsWith('_en.csv')) ?? matches[0]
    if (file) found[name] = join(folder, file)
    else missing.push(name)
  }
  if (missing.length > 0) throw new Error(`${folder}: expected ${what}; missing: ${missing.join(', ')}`)
  return found
}
