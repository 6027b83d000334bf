import { Command, CommanderError } from 'commander'
import packageJson from '../package.json' with { type: 'json' }
import type { CommandLoader } from './partner-commands.ts'

/** Returns the program with the options that all commands have, but without commands. */
export function createProgram(description: string): Command {
  return new Command('attestry')
    .description(description)
    .version(packageJson.version)
    .option('--json', 'print JSON instead of tables')
    .option('--profile <name>', 'server and key for commands that sign calls; see "attestry profile"')
    .showHelpAfterError('Run `attestry --help` to list the commands, or add --help to a command to list its options.')
    .configureHelp({ sortSubcommands: false })
}

/** Options that can precede the command and have a value. */
const VALUE_OPTIONS = ['--profile', '--env-file']

/** Loads the command that the arguments name, or all of them for the help, and runs it. `reportError` returns the exit code. */
export async function runProgram(
  program: Command,
  commands: Record<string, CommandLoader>,
  reportError: (error: unknown) => number,
): Promise<void> {
  process.stdout.on('error', stopIfUnread)
  const args = process.argv.slice(2)
  const commandName = args.find(
    (argument, index) => !VALUE_OPTIONS.includes(args[index - 1] ?? '') && Object.hasOwn(commands, argument),
  )
  for (const load of commandName ? [commands[commandName]!] : Object.values(commands)) program.addCommand(await load())
  try {
    throwOnExit(program)
    await program.parseAsync()
  } catch (error) {
    process.exitCode = reportError(error)
  }
}

/** Exits if the program that reads the output has ended, as in `attestry … | head`. */
function stopIfUnread(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
  process.exit()
}

/** Returns the exit code of an error that Commander has already printed, or undefined for other errors. */
export function exitCodeOf(error: unknown): number | undefined {
  return error instanceof CommanderError ? error.exitCode : undefined
}

/** Makes a command and its subcommands throw a `CommanderError` instead of ending the process. */
function throwOnExit(command: Command): void {
  command.exitOverride()
  for (const subcommand of command.commands) throwOnExit(subcommand)
}
