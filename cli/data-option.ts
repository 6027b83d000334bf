import { readFileSync } from 'node:fs'
import { InvalidArgumentError } from 'commander'

export const DATA_SOURCES = '@file reads it from a file, - from standard input'

/** The text that --data means: itself, a file's with @path, or what comes in with -. Nothing of it is repeated: it may hold secrets. */
export function dataText(given: string): string {
  if (given === '-') return readFileSync(0, 'utf8')
  if (!given.startsWith('@')) return given
  const path = given.slice(1)
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new InvalidArgumentError(
      code === 'ENOENT' ? `There is no file ${path || 'after @'}.` : `${path} cannot be read: ${code}.`,
    )
  }
}

/** The body of a call. */
export function jsonData(given: string): unknown {
  const text = dataText(given)
  try {
    return JSON.parse(text)
  } catch {
    if (given === '-') throw new InvalidArgumentError('What came in on standard input is not JSON.')
    if (given.startsWith('@')) throw new InvalidArgumentError(`${given.slice(1)} does not hold JSON.`)
    throw new InvalidArgumentError(
      'Expected JSON, in quotes: \'{"name":"Welding"}\'; @file reads it from a file, - from standard input.',
    )
  }
}
