import { tokenize } from '../text/tokens.ts'

/**
 * Parsers for the word lists in `data/lexicon/`. Every entry is folded like the text it is compared with (case, accents, nukta),
 * so the files may use ordinary spelling. Invalid lines are collected and reported together, with file and line number.
 */

/** Parses lists of entries under `[heading]` lines. `maxWords` has the headings of the file and the length of their entries. */
export function parseLists<Heading extends string>(
  file: string,
  text: string,
  maxWords: Readonly<Record<Heading, number>>,
): Record<Heading, string[]> {
  const report = new Report(file)
  const headings = Object.keys(maxWords) as Heading[]
  const expected = `one of ${headings.map((heading) => `[${heading}]`).join(', ')}`
  const lists = {} as Record<Heading, string[]>
  let current: Heading | undefined
  let seen = new Map<string, number>()
  for (const { number, line } of contentLines(text)) {
    const heading = /^\[(.*)\]$/.exec(line)?.[1] as Heading | undefined
    if (heading !== undefined) {
      if (!headings.includes(heading)) report.add(number, `expected ${expected}, got [${heading}]`)
      else if (lists[heading]) report.add(number, `[${heading}] must occur once`)
      current = heading
      lists[heading] ??= []
      seen = new Map()
    } else if (current === undefined) report.add(number, `expected ${expected} before the first entry, got "${line}"`)
    else lists[current].push(...parseEntries(line, number, maxWords[current] ?? Number.POSITIVE_INFINITY, report, seen))
  }
  for (const heading of headings) if (!lists[heading]?.length) report.add(undefined, `[${heading}] has no entries`)
  report.throwIfAny()
  return lists
}

/** Parses a list of single words without headings. */
export function parseList(file: string, text: string): string[] {
  const report = new Report(file)
  const seen = new Map<string, number>()
  const entries = contentLines(text).flatMap(({ number, line }) => parseEntries(line, number, 1, report, seen))
  report.throwIfAny()
  return entries
}

/** Parses groups of two or more words, one group per line. */
export function parseGroups(file: string, text: string): string[][] {
  const report = new Report(file)
  const groups = contentLines(text).map(({ number, line }) => {
    const words = parseEntries(line, number, 1, report, new Map())
    if (words.length < 2) report.add(number, `expected "word; word", got "${line}"`)
    return words
  })
  report.throwIfAny()
  return groups
}

/** Upper bounds for the lines of a mapping. */
export interface MappingLimits {
  keyWords: number
  valueWords: number
  values: number
}

/** Parses lines of `key = value; value`. */
export function parseMapping(
  file: string,
  text: string,
  { keyWords, valueWords, values: maxValues }: MappingLimits,
): Map<string, string[]> {
  const report = new Report(file)
  const keys = new Map<string, number>()
  const mapping = new Map<string, string[]>()
  const expected = maxValues === 1 ? '"key = value"' : '"key = value; value"'
  for (const { number, line } of contentLines(text)) {
    const parts = line.split('=')
    if (parts.length !== 2) {
      report.add(number, `expected ${expected}, got "${line}"`)
      continue
    }
    const [key] = parseEntries(parts[0]!, number, keyWords, report, keys)
    const values = parseEntries(parts[1]!, number, valueWords, report, new Map())
    if (values.length > maxValues) report.add(number, `expected ${expected}, got ${values.length} values in "${line}"`)
    if (key !== undefined) mapping.set(key, values)
  }
  report.throwIfAny()
  return mapping
}

/** Parses `entry; entry`; `seen` has the entries so far with their line numbers. */
function parseEntries(
  text: string,
  number: number,
  maxWords: number,
  report: Report,
  seen: Map<string, number>,
): string[] {
  const entries: string[] = []
  // Most lines are folded already, and testing for that is much faster than the tokenizer.
  const isFolded = !/[^a-z0-9; ]| {2}/.test(text)
  for (const part of text.split(';')) {
    const entry = isFolded ? part.trim() : tokenize(part).join(' ')
    if (entry === '') {
      report.add(number, `expected entries separated by single semicolons, got "${text.trim()}"`)
      continue
    }
    if (entry.includes(' ') && entry.split(' ').length > maxWords) {
      const limit = maxWords === 1 ? 'a single word' : `at most ${maxWords} words`
      report.add(number, `expected ${limit}, got "${part.trim()}"`)
    }
    if (seen.has(entry)) report.add(number, `"${part.trim()}" is already on line ${seen.get(entry)}`)
    seen.set(entry, number)
    entries.push(entry)
  }
  return entries
}

/** The lines that are neither empty nor a comment. */
function contentLines(text: string): { number: number; line: string }[] {
  return text
    .split('\n')
    .map((line, at) => ({ number: at + 1, line: line.trim() }))
    .filter(({ line }) => line !== '' && !line.startsWith('#'))
}

class Report {
  private readonly file: string
  private readonly messages: string[] = []

  constructor(file: string) {
    this.file = file
  }

  add(line: number | undefined, message: string): void {
    this.messages.push(`data/lexicon/${this.file}${line === undefined ? '' : `:${line}`}: ${message}`)
  }

  throwIfAny(): void {
    if (this.messages.length > 0) throw new Error(this.messages.join('\n'))
  }
}
