import { Command, CommanderError } from 'commander'
import about from '../package.json' with { type: 'json' }
import { Problem } from '../server/api/problem.ts'
import { ConfigError } from '../server/config.ts'
import { commands } from './commands.ts'
import { withDetails } from './print.ts'

const program = new Command('attestry')
  .description('Manages an Attestry deployment. Works beside a running server; changes are in force at once.')
  .version(about.version)
  .option('--json', 'print JSON for machines instead of tables for people')
  .showHelpAfterError('(attestry --help, or --help after a command, tells what there is)')
  .configureHelp({ sortSubcommands: false })
  .addHelpText(
    'after',
    `
Where the data is:
  the embedded database in DATA_DIR (default ./.attestry), or the one that DATABASE_URL names.

To begin with:
  $ npx attestry org create --name "Acme Staffing"
  $ npx attestry key create --org ORG_… --mode test
  $ npx attestry request GET /shifts`,
  )

const asked = process.argv.slice(2).find((argument) => Object.hasOwn(commands, argument))
for (const load of asked ? [commands[asked]!] : Object.values(commands)) program.addCommand(await load())

try {
  await program.exitOverride().parseAsync()
} catch (error) {
  process.exitCode = report(error)
}

/** Codes of connections that broke, and of a PostgreSQL that is shutting down. */
const GONE = new Set(['ECONNRESET', 'EPIPE', '57P01', '57P02', '57P03', '08006', '08003'])

function explain(error: Error & { code?: string }): string {
  const gone = (error.code !== undefined && GONE.has(error.code)) || /Connection terminated/.test(error.message)
  if (!gone) return error.message
  return `The connection to the database broke (${error.message}). What was not finished is undone; run the command again when the database is back.`
}

function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode
  if (error instanceof ConfigError) for (const line of error.lines) console.error(`attestry: ${line}`)
  else if (error instanceof Problem) console.error(`attestry: ${withDetails(error.message, error.details)}`)
  else console.error(`attestry: ${error instanceof Error ? explain(error) : String(error)}`)
  return 1
}
