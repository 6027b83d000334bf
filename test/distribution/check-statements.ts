import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { compare, readExceptions } from './exceptions.ts'
import { listTables } from './schema.ts'
import { findUnroutedTables } from './statements.ts'

interface Collected {
  sender: string
  text: string
}

/** An entry begins with the file that sends the statement; entries about the schema do not. */
const isStatementEntry = (entry: string) => /^(server|cli)\//.test(entry)

/**
 * Compares the statements of a test run with the list of exceptions, and prints the differences. Returns false if there are statements that
 * are not on the list. Exceptions that a complete run does not cause are only printed: some depend on the timing of jobs.
 */
export async function checkStatements(
  folder: string,
  databaseUrl: string,
  { isComplete }: { isComplete: boolean },
): Promise<boolean> {
  const statements = await readStatements(folder)
  const exceptions = new Set([...(await readExceptions())].filter(isStatementEntry))
  const examples = new Map<string, string>()
  const failures: string[] = []
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const tables = await listTables(client)
    for (const { sender, text } of statements)
      try {
        const unrouted = await findUnroutedTables(client, text, tables)
        if (unrouted.length === 0) continue
        examples.set(`${sender}: ${readCommand(text)} ${unrouted.join(', ')}`, text)
      } catch (error) {
        failures.push(`${sender}: ${(error as Error).message}: ${text}`)
      }
  } finally {
    await client.end()
  }
  const { added, removed } = compare([...examples.keys()], exceptions)
  console.log(`\n${statements.length} statements, ${examples.size} kinds that read several organisations`)
  for (const failure of failures) console.log(`\nPostgreSQL cannot plan a statement of ${failure}`)
  for (const entry of added.sort())
    console.log(
      `\nnot limited to one organisation, and not in test/distribution/exceptions.txt:\n${entry}\n${examples.get(entry)}`,
    )
  if (isComplete)
    for (const entry of removed)
      console.log(
        `\ndid not occur; remove it from test/distribution/exceptions.txt if its statement was changed:\n${entry}`,
      )
  return failures.length === 0 && added.length === 0
}

async function readStatements(folder: string): Promise<Collected[]> {
  const byText = new Map<string, Collected>()
  for (const file of (await readdir(folder)).sort())
    for (const line of (await readFile(join(folder, file), 'utf8')).split('\n').filter(Boolean)) {
      const statement = JSON.parse(line) as Collected
      byText.set(`${statement.sender} ${statement.text}`, statement)
    }
  return [...byText.values()]
}

/** Returns the first command of a statement; that of a statement with common table expressions is `with`. */
function readCommand(text: string): string {
  return /^\s*(\w+)/.exec(text)![1]!.toLowerCase()
}
