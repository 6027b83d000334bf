import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Finds the files of a download by name patterns. Throws an error that lists missing files. English files are preferred. */
export async function findFiles<Name extends string>(
  folder: string,
  description: string,
  patterns: Record<Name, RegExp>,
): Promise<Record<Name, string>> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new Error(`${folder}: folder not found`)
    if (error.code === 'ENOTDIR') throw new Error(`${folder}: expected ${description}, not a file`)
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
  if (missing.length > 0) throw new Error(`${folder}: expected ${description}; missing: ${missing.join(', ')}`)
  return found
}
