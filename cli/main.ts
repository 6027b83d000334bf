import { Command, CommanderError } from 'commander'
import about from '../package.json' with { type: 'json' }
import { ConfigError } from '../server/config.ts'
import { Problem } from '../server/platform/problem.ts'
import { channelsCommand } from './channels.ts'
import { creditsCommand } from './credits.ts'
import { doctorCommand } from './doctor.ts'
import { eventsCommand } from './events.ts'
import { keyCommand } from './key.ts'
import { listenCommand } from './listen.ts'
import { mailCommand } from './mail.ts'
import { masterKeyCommand } from './master-key.ts'
import { memberCommand } from './member.ts'
import { migrateCommand } from './migrate.ts'
import { orgCommand } from './org.ts'
import { playgroundCommand } from './playground.ts'
import { requestCommand } from './request.ts'
import { serveCommand } from './serve.ts'
import { serviceCommand } from './service.ts'
import { skillsCommand } from './skills.ts'

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

for (const command of [
  serveCommand,
  migrateCommand,
  orgCommand,
  keyCommand,
  memberCommand,
  creditsCommand,
  channelsCommand,
  serviceCommand,
  skillsCommand,
  playgroundCommand,
  requestCommand,
  listenCommand,
  eventsCommand,
  mailCommand,
  masterKeyCommand,
  doctorCommand,
]) {
  program.addCommand(command())
}

try {
  await program.exitOverride().parseAsync()
} catch (error) {
  process.exitCode = report(error)
}

function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode
  if (error instanceof ConfigError) for (const line of error.lines) console.error(`attestry: ${line}`)
  else if (error instanceof Problem)
    console.error(
      `attestry: ${[error.message, ...error.details.map(({ path, message }) => `${path}: ${message}`)].join('\n  ')}`,
    )
  else console.error(`attestry: ${error instanceof Error ? error.message : String(error)}`)
  return 1
}
