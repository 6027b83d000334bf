import { readFileSync } from 'node:fs'
import { InvalidArgumentError } from 'commander'
import { parseJsonOrUndefined } from '../server/platform/json.ts'

export const DATA_SOURCES = '@file reads a file, - reads standard input'

/**
 * Returns the text of --data: the value itself, the contents of a file (`@path`) or standard input (`-`). Errors do not
 * quote it: it may contain secrets.
 */
export function readData(value: string): string {
  if (value === '-') return readFileSync(0, 'utf8')
  if (!value.startsWith('@')) return value
  const path = value.slice(1)
  if (path === '') throw new InvalidArgumentError('Expected a file path after @, such as @body.json.')
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new InvalidArgumentError(code === 'ENOENT' ? `File not found: ${path}.` : `Reading ${path} failed: ${code}.`)
  }
}

/** Parses the JSON of --data. */
export function readJsonData(value: string): unknown {
  const data = parseJsonOrUndefined(readData(value))
  if (data !== undefined) return data
  if (value === '-') throw new InvalidArgumentError('Standard input is not valid JSON.')
  if (value.startsWith('@')) throw new InvalidArgumentError(`${value.slice(1)} is not valid JSON.`)
  throw new InvalidArgumentError(`Expected JSON in quotes, such as '{"name":"Welding"}'; ${DATA_SOURCES}.`)
}
