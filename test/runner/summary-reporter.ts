import { resolve } from 'node:path'
import type { TestEvent } from 'node:test/reporters'

/** The summary of a test run, as `summaryReporter` writes it. */
export interface TestSummary {
  /** Paths of the files with a failed test. */
  failedFiles: string[]
  /** Number of tests and suites that ran. */
  tests: number
  /** Duration of each test file. */
  secondsByFile: Record<string, number>
}

/** Test reporter that writes a `TestSummary` as JSON. */
export default async function* summaryReporter(events: AsyncIterable<TestEvent>) {
  const failedFiles = new Set<string>()
  const secondsByFile: Record<string, number> = {}
  let tests = 0
  for await (const event of events) {
    if (event.type === 'test:summary' && event.data.file) secondsByFile[event.data.file] = event.data.duration_ms / 1000
    if (event.type !== 'test:fail' && event.type !== 'test:pass') continue
    const { name, file } = event.data
    if (event.type === 'test:fail') failedFiles.add(file ?? name)
    // A file in which no test has a matching name is reported as one test with the name of the file.
    if (resolve(name) !== file) tests++
  }
  yield JSON.stringify({ failedFiles: [...failedFiles], tests, secondsByFile } satisfies TestSummary)
}
