import type { TestEvent } from 'node:test/reporters'

/** Test reporter that writes the path of each file with a failed test on a separate line. */
export default async function* failedFiles(events: AsyncIterable<TestEvent>) {
  const seen = new Set<string>()
  for await (const event of events) {
    if (event.type !== 'test:fail') continue
    const file = event.data.file ?? event.data.name
    if (seen.has(file)) continue
    seen.add(file)
    yield `${file}\n`
  }
}
