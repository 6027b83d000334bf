import { tokenize } from '../text/tokens.ts'

/**
 * Parsers for the word lists in `data/lexicon/`. Entries are folded by the tokenizer: they lose case, accents and the Devanagari
 * sign nukta, like the texts that they are compared with. So the files can use normal spelling. One error reports all invalid
 * lines, with file and line number.
 */

/** Parses lists of entries under `[heading]` lines. `maxWords` is the maximum number of words of an entry, by heading. */
export function parseListsWithHeadings<Heading extends string>(
  file: string,
  text: string,
  maxWords: Readonly<Record<Heading, number>>,
): Record<Heading, string[]> {
  const report = new ErrorReport(file)
  const headings = Object.keys(maxWords) as Heading[]
  const expectedHeading = `one of ${headings.map((heading) => `[${heading}]`).join(', ')}`
  const lists = {} as Record<Heading, string[]>
  let currentHeading: Heading | undefined
  let lineNumbersByEntry = new Map<string, number>()
  for (const { lineNumber, line } of contentLines(text)) {
    const heading = /^\[(.*)\]$/.exec(line)?.[1] as Heading | undefined
    if (heading !== undefined) {
      if (!headings.includes(heading)) report.addError(lineNumber, `expected ${expectedHeading}, got [${heading}]`)
      else if (lists[heading]) report.addError(lineNumber, `[${heading}] must occur once`)
      currentHeading = heading
      lists[heading] ??= []
      lineNumbersByEntry = new Map()
    } else if (currentHeading === undefined)
      report.addError(lineNumber, `expected ${expectedHeading} before the first entry, got "${line}"`)
    else
      lists[currentHeading].push(
        ...parseEntries(
          line,
          lineNumber,
          maxWords[currentHeading] ?? Number.POSITIVE_INFINITY,
          report,
          lineNumbersByEntry,
        ),
      )
  }
  for (const heading of headings) if (!lists[heading]?.length) report.addError(undefined, `[${heading}] has no entries`)
  report.throwIfAnyError()
  return lists
}

/** Parses a list of single words without headings. */
export function parseWordList(file: string, text: string): string[] {
  const report = new ErrorReport(file)
  const lineNumbersByEntry = new Map<string, number>()
  const entries = contentLines(text).flatMap(({ lineNumber, line }) =>
    parseEntries(line, lineNumber, 1, report, lineNumbersByEntry),
  )
  report.throwIfAnyError()
  return entries
}

/** Parses groups of two or more words, one group per line. */
export function parseWordGroups(file: string, text: string): string[][] {
  const report = new ErrorReport(file)
  const groups = contentLines(text).map(({ lineNumber, line }) => {
    const words = parseEntries(line, lineNumber, 1, report, new Map())
    if (words.length < 2) report.addError(lineNumber, `expected "word; word", got "${line}"`)
    return words
  })
  report.throwIfAnyError()
  return groups
}

/** Limits of a line of a mapping: words of its key, words of each value, and number of values. */
export interface MappingLimits {
  maxKeyWords: number
  maxValueWords: number
  maxValues: number
}

/** Parses lines of `key = value; value`. */
export function parseMapping(
  file: string,
  text: string,
  { maxKeyWords, maxValueWords, maxValues }: MappingLimits,
): Map<string, string[]> {
  const report = new ErrorReport(file)
  const lineNumbersByKey = new Map<string, number>()
  const mapping = new Map<string, string[]>()
  const expectedLine = maxValues === 1 ? '"key = value"' : '"key = value; value"'
  for (const { lineNumber, line } of contentLines(text)) {
    const parts = line.split('=')
    if (parts.length !== 2) {
      report.addError(lineNumber, `expected ${expectedLine}, got "${line}"`)
      continue
    }
    const [key] = parseEntries(parts[0]!, lineNumber, maxKeyWords, report, lineNumbersByKey)
    const values = parseEntries(parts[1]!, lineNumber, maxValueWords, report, new Map())
    if (values.length > maxValues)
      report.addError(lineNumber, `expected ${expectedLine}, got ${values.length} values in "${line}"`)
    if (key !== undefined) mapping.set(key, values)
  }
  report.throwIfAnyError()
  return mapping
}

/**
 * Parses `entry; entry`. `lineNumbersByEntry` contains the line number of every earlier entry, to report duplicates; new entries
 * are added.
 */
function parseEntries(
  text: string,
  lineNumber: number,
  maxWords: number,
  report: ErrorReport,
  lineNumbersByEntry: Map<string, number>,
): string[] {
  const entries: string[] = []
  // The tokenizer would not change most lines, and this test is much faster than the tokenizer.
  const isFolded = !/[^a-z0-9; ]| {2}/.test(text)
  for (const part of text.split(';')) {
    const entry = isFolded ? part.trim() : tokenize(part).join(' ')
    if (entry === '') {
      report.addError(lineNumber, `expected entries separated by single semicolons, got "${text.trim()}"`)
      continue
    }
    if (entry.includes(' ') && entry.split(' ').length > maxWords) {
      const limit = maxWords === 1 ? 'a single word' : `at most ${maxWords} words`
      report.addError(lineNumber, `expected ${limit}, got "${part.trim()}"`)
    }
    if (lineNumbersByEntry.has(entry))
      report.addError(lineNumber, `"${part.trim()}" is already on line ${lineNumbersByEntry.get(entry)}`)
    lineNumbersByEntry.set(entry, lineNumber)
    entries.push(entry)
  }
  return entries
}

/** Returns the lines that are neither empty nor a comment, with their line numbers. */
function contentLines(text: string): { lineNumber: number; line: string }[] {
  return text
    .split('\n')
    .map((line, i) => ({ lineNumber: i + 1, line: line.trim() }))
    .filter(({ line }) => line !== '' && !line.startsWith('#'))
}

/** Collects the errors of a file, to report all of them in one error. */
class ErrorReport {
  private readonly file: string
  private readonly messages: string[] = []

  constructor(file: string) {
    this.file = file
  }

  addError(lineNumber: number | undefined, message: string): void {
    this.messages.push(`data/lexicon/${this.file}${lineNumber === undefined ? '' : `:${lineNumber}`}: ${message}`)
  }

  throwIfAnyError(): void {
    if (this.messages.length > 0) throw new Error(this.messages.join('\n'))
  }
}
