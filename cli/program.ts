import { Command, CommanderError } from 'commander'
import packageJson from '../package.json' with { type: 'json' }
import { programName } from './examples.ts'
import type { CommandLoader } from './partner-commands.ts'

/** Returns the program with the options that all commands have, but without commands. */
export function createProgram(description: string): Command {
  return new Command('attestry')
    .description(description)
    .version(packageJson.version)
    .option('--json', 'print JSON instead of tables')
    .option('--profile <name>', 'server and key for commands that sign calls; see "attestry profile"')
    .configureHelp({ sortSubcommands: false })
}

/** Options that can precede the command and have a value. */
const VALUE_OPTIONS = ['--profile', '--env-file']

interface ProgramOptions {
  /** Prints an error and returns the exit code. */
  reportError: (error: unknown) => number
  /** Returns what to do if a command does not exist. */
  unknownCommandHint?: (name: string) => string | undefined
}

/** Loads the command that the arguments name, or all of them for the help, and runs it. */
export async function runProgram(
  program: Command,
  commands: Record<string, CommandLoader>,
  { reportError, unknownCommandHint }: ProgramOptions,
): Promise<void> {
  process.stdout.on('error', stopIfUnread)
  const args = expandHelp(process.argv.slice(2))
  const commandName = args.find(
    (argument, index) => !VALUE_OPTIONS.includes(args[index - 1] ?? '') && Object.hasOwn(commands, argument),
  )
  for (const load of commandName ? [commands[commandName]!] : Object.values(commands)) program.addCommand(await load())
  try {
    prepareCommand(program, programName, (message) => {
      const unknownName = /unknown command '([^']+)'/.exec(message)?.[1]
      return unknownName === undefined ? undefined : unknownCommandHint?.(unknownName)
    })
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    process.exitCode = reportError(error)
  }
}

/** Turns `help clocks advance` into `clocks advance --help`: Commander shows the help of the first name only. */
function expandHelp(args: string[]): string[] {
  const [first, ...names] = args
  return first === 'help' && names.length > 1 ? [...names, '--help'] : args
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

/**
 * Makes a command and its subcommands throw a `CommanderError` instead of ending the process, and print usage errors like other errors,
 * with what to do next. A command does not inherit these settings, because it is created before it is added to the program.
 */
function prepareCommand(command: Command, path: string, hintFor: (message: string) => string | undefined): void {
  const isProgram = command.parent === null
  const advice = isProgram
    ? `Run \`${path} --help\` to list the commands, or add --help to a command to list its options.`
    : command.commands.length > 0
      ? `Run \`${path} --help\` to list its commands.`
      : `Run \`${path} --help\` to list its arguments and options.`
  command.exitOverride().configureOutput({
    outputError: (text, write) => {
      const message = text.replace(/^error: /, '').trimEnd()
      write(`attestry: ${message}\n${hintFor(message) ?? advice}\n`)
    },
  })
  for (const subcommand of command.commands) prepareCommand(subcommand, `${path} ${subcommand.name()}`, hintFor)
}
