import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Finds the files of a download by name patterns. Throws an error that lists missing files. If several files match a pattern, the
 * English one is used.
 */
export async function findFiles<Name extends string>(
  folder: string,
  description: string,
  patterns: Record<Name, RegExp>,
): Promise<Record<Name, string>> {
  const fileNames = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new Error(`${folder}: folder not found`)
    if (error.code === 'ENOTDIR') throw new Error(`${folder}: expected ${description}, not a file`)
    throw error
  })
  const pathsByName = {} as Record<Name, string>
  const missingNames: string[] = []
  for (const [name, pattern] of Object.entries(patterns) as [Name, RegExp][]) {
    const matches = fileNames.filter((file) => pattern.test(file)).sort()
    const file = matches.find((match) => match.endsWith('_en.csv')) ?? matches[0]
    if (file) pathsByName[name] = join(folder, file)
    else missingNames.push(name)
  }
  if (missingNames.length > 0)
    throw new Error(`${folder}: expected ${description}; missing: ${missingNames.join(', ')}`)
  return pathsByName
}
