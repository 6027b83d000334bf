import { Command, CommanderError } from 'commander'
import packageJson from '../package.json' with { type: 'json' }
import { Problem } from '../server/api/problem.ts'
import { ConfigError } from '../server/config.ts'
import { errorText } from '../server/platform/error-text.ts'
import { commands } from './commands.ts'
import { messageWithDetails } from './print.ts'

/** Error codes of a lost connection, or of a PostgreSQL server that is starting or shutting down. */
const CONNECTION_LOST_CODES = new Set(['ECONNRESET', 'EPIPE', '57P01', '57P02', '57P03', '08006', '08003'])

const program = new Command('attestry')
  .description(
    'Manages an Attestry deployment. Commands also work while the server is running, and their changes take effect within a second.',
  )
  .version(packageJson.version)
  .option('--json', 'print JSON instead of tables')
  .showHelpAfterError('Run `attestry --help` to list the commands, or add --help to a command to list its options.')
  .configureHelp({ sortSubcommands: false })
  .addHelpText(
    'after',
    `
Database:
  DATABASE_URL, or the embedded database in DATA_DIR (default: ./.attestry)

Examples:
  $ npx attestry org create --name "Acme Staffing"
  $ npx attestry key create --org ORG_… --mode test
  $ npx attestry request GET /shifts`,
  )

const commandName = process.argv.slice(2).find((argument) => Object.hasOwn(commands, argument))
for (const load of commandName ? [commands[commandName]!] : Object.values(commands)) program.addCommand(await load())

try {
  throwOnExit(program)
  await program.parseAsync()
} catch (error) {
  process.exitCode = reportError(error)
}

/** Makes a command and its subcommands throw a `CommanderError` instead of ending the process. */
function throwOnExit(command: Command): void {
  command.exitOverride()
  for (const subcommand of command.commands) throwOnExit(subcommand)
}

function describeError(error: Error & { code?: string }): string {
  const connectionLost =
    (error.code !== undefined && CONNECTION_LOST_CODES.has(error.code)) || /Connection terminated/.test(error.message)
  if (!connectionLost) return errorText(error)
  return `Lost the connection to the database (${error.message}). Unfinished changes were rolled back; run the command again when the database is available.`
}

/** Prints an error and returns the exit code. */
function reportError(error: unknown): number {
  if (error instanceof CommanderError) {
    if (error.code === 'commander.missingMandatoryOptionValue' && error.message.includes("'--org ")) printOrgHint()
    return error.exitCode
  }
  if (error instanceof ConfigError) for (const line of error.lines) console.error(`attestry: ${line}`)
  else if (error instanceof Problem) console.error(`attestry: ${messageWithDetails(error.message, error.details)}`)
  else console.error(`attestry: ${error instanceof Error ? describeError(error) : String(error)}`)
  if (error instanceof Problem && /^Organisation \S+ not found\.$/.test(error.message)) printOrgHint()
  return 1
}

function printOrgHint(): void {
  console.error('To list the organisations and their IDs, run `npx attestry org list`.')
}
