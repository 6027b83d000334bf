import { CommanderError } from 'commander'
import { Problem } from '../server/api/problem.ts'
import { ConfigError } from '../server/config.ts'
import { loadEnvironment } from '../server/env-file.ts'
import { isDatabaseUnavailable } from '../server/platform/database/outage.ts'
import { errorText } from '../server/platform/error-text.ts'
import { commands } from './commands.ts'
import { messageWithDetails } from './print.ts'
import { createProgram, runProgram } from './program.ts'

/** Error codes of a lost connection, or of a PostgreSQL server that is starting or shutting down. */
const CONNECTION_LOST_CODES = new Set(['ECONNRESET', 'EPIPE', '57P01', '57P02', '57P03', '08006', '08003'])

const program = createProgram(
  'Manages an Attestry deployment. Commands also work while the server is running, and their changes take effect within a second.',
)
  .option(
    '--env-file <path>',
    'file with the configuration of the server (default: attestry.env or .env in the current folder)',
  )
  .hook('preAction', (program, command) => {
    const { envFile } = program.opts<{ envFile?: string }>()
    // "attestry init" writes the file.
    if (command.name() !== 'init') Object.assign(process.env, loadEnvironment(process.env, envFile).environment)
  })
  .addHelpText(
    'after',
    `
Configuration:
  the environment, and the file that --env-file or ATTESTRY_ENV_FILE names, or else attestry.env or .env in the current folder

Database:
  DATABASE_URL, or the embedded database in DATA_DIR (default: ./.attestry)

Examples:
  $ npx attestry org create --name "Acme Staffing"
  $ npx attestry key create --org ORG_… --mode test
  $ npx attestry request GET /shifts`,
  )
// Not awaited: in a bundle, modules that are loaded later can import this one, and would wait until it has been evaluated.
void runProgram(program, commands, { reportError })

function describeError(error: Error & { code?: string }): string {
  const connectionLost =
    (error.code !== undefined && CONNECTION_LOST_CODES.has(error.code)) || /Connection terminated/.test(error.message)
  if (!connectionLost && process.env.DATABASE_URL && isDatabaseUnavailable(error))
    return `The database cannot be reached: ${errorText(error)}. Check that PostgreSQL is running and that DATABASE_URL has its host and port.`
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
