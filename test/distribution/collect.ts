// Loaded into every process of `npm test -- --statements`: stores each statement that code of the product sends, with the file that sends it.
import { appendFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'

const folder = process.env.TEST_STATEMENTS_FOLDER!
const root = fileURLToPath(new URL('../..', import.meta.url))
const seen = new Set<string>()
/** Frames between the driver and the code that sends the statement: the pool, the query builder, retries. */
const MAX_STACK_FRAMES = 60
const FRAME_FILE = /(?:file:\/\/)?(\/[^():]+\.ts):\d+:\d+\)?$/
const STATEMENT = /^\s*(select|insert|update|delete|with)\b/i

const { query } = pg.Client.prototype as unknown as { query: (...args: unknown[]) => unknown }
Object.assign(pg.Client.prototype, {
  query(this: pg.Client, ...args: unknown[]) {
    const [first] = args
    const text = typeof first === 'string' ? first : (first as { text?: string } | undefined)?.text
    if (text !== undefined && STATEMENT.test(text) && !seen.has(text)) store(text)
    return query.apply(this, args)
  },
})

/** Statements of the tests themselves are not stored; the product may send the same text later. */
function store(text: string): void {
  const sender = findSender()
  if (!sender || sender.endsWith('.test.ts') || !/^(server|cli)\//.test(sender)) return
  seen.add(text)
  appendFileSync(join(folder, `${process.pid}.jsonl`), `${JSON.stringify({ sender, text })}\n`)
}

/** Returns the first file on the stack that is neither the driver nor the part of the product that wraps it. */
function findSender(): string | undefined {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = MAX_STACK_FRAMES
  const { stack = '' } = new Error()
  Error.stackTraceLimit = limit
  return stack
    .split('\n')
    .flatMap((line) => FRAME_FILE.exec(line)?.[1] ?? [])
    .map((file) => relative(root, file))
    .find(
      (file) =>
        !file.startsWith('..') &&
        !file.startsWith('node_modules/') &&
        !file.startsWith('server/platform/database/') &&
        file !== 'test/distribution/collect.ts',
    )
}
