import { Command, InvalidArgumentError } from 'commander'
import { examples } from '../examples.ts'

type Shell = keyof typeof generators

const generators = { bash: bashScript, zsh: zshScript, fish: fishScript }

/** Prints a script that completes the names of commands and options in a shell. */
export function completionCommand(loadAll: () => Promise<Command[]>): Command {
  return new Command('completion')
    .description('Print a script for command completion in bash, zsh or fish')
    .argument('<shell>', 'bash, zsh or fish', parseShell)
    .addHelpText(
      'after',
      `
Install it once per shell, with "attestry" on your PATH:
  bash:  attestry completion bash > ~/.local/share/bash-completion/completions/attestry
  zsh:   attestry completion zsh > "\${fpath[1]}/_attestry"
  fish:  attestry completion fish > ~/.config/fish/completions/attestry.fish`,
    )
    .addHelpText(...examples('completion bash'))
    .action(async (shell: Shell) => {
      const root = new Command('attestry').option('--json').option('--profile <name>')
      for (const command of await loadAll()) root.addCommand(command)
      process.stdout.write(generators[shell](completions(root)))
    })
}

/** The words that can follow a command. */
interface Completion {
  /** Names of the command and its parents below the program: "", "key", "key create". */
  path: string
  words: { text: string; description: string }[]
}

function completions(command: Command, path: string[] = []): Completion[] {
  const subcommands = command.commands.filter((subcommand) => subcommand.name() !== 'help')
  const words = [
    ...subcommands.map((subcommand) => ({ text: subcommand.name(), description: subcommand.description() })),
    ...command.options
      .filter(({ hidden, long }) => !hidden && long)
      .map(({ long, description }) => ({ text: long!, description })),
    { text: '--help', description: 'show the help' },
  ]
  return [
    { path: path.join(' '), words },
    ...subcommands.flatMap((subcommand) => completions(subcommand, [...path, subcommand.name()])),
  ]
}

/** Returns a shell function that prints the words that follow the commands in its arguments. */
function wordFunction(all: Completion[], name: string, line: (word: Completion['words'][number]) => string): string {
  const cases = all.map(({ path, words }) => `    ${quote(path)}) printf '%s\\n' ${words.map(line).join(' ')} ;;`)
  return `${name}() {\n  case "$1" in\n${cases.join('\n')}\n  esac\n}\n`
}

/** Shell code that sets "names" to the longest known sequence of commands in the given words. In zsh, "path" would be the search path. */
function pathLoop(all: Completion[], words: string): string {
  const paths = all.map(({ path }) => quote(path)).join('|')
  return `  local names='' word
  for word in ${words}; do
    case "$names\${names:+ }$word" in
      ${paths}) names="$names\${names:+ }$word" ;;
    esac
  done
`
}

function bashScript(all: Completion[]): string {
  return `# Command completion of attestry for bash.
${wordFunction(all, '_attestry_words', ({ text }) => quote(text))}
_attestry() {
${pathLoop(all, `"\${COMP_WORDS[@]:1:COMP_CWORD-1}"`)}  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(_attestry_words "$names")" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _attestry attestry
`
}

function zshScript(all: Completion[]): string {
  const line = ({ text, description }: Completion['words'][number]) =>
    quote(`${text}:${firstSentence(description).replace(/[:\\]/g, ' ')}`)
  return `#compdef attestry
# Command completion of attestry for zsh.
${wordFunction(all, '_attestry_words', line)}
_attestry() {
${pathLoop(all, `"\${(@)words[2,CURRENT-1]}"`)}  local -a entries
  entries=("\${(@f)$(_attestry_words "$names")}")
  _describe 'command' entries || _files
}
if [ "$funcstack[1]" = "_attestry" ]; then _attestry "$@"; else compdef _attestry attestry; fi
`
}

function fishScript(all: Completion[]): string {
  const paths = all.map(({ path }) => quote(path)).join(' ')
  const lines = all.flatMap(({ path, words }) =>
    words.map(({ text, description }) => {
      const word = text.startsWith('--') ? `-l ${text.slice(2)}` : `-f -a ${quote(text)}`
      return `complete -c attestry -n ${quote(`test (__attestry_path) = "${path}"`)} ${word} -d ${quote(firstSentence(description))}`
    }),
  )
  return `# Command completion of attestry for fish.
function __attestry_path
  set -l path ''
  for word in (commandline -opc)[2..-1]
    set -l longer (string trim "$path $word")
    if contains -- "$longer" ${paths}
      set path "$longer"
    end
  end
  echo "$path"
end
${lines.join('\n')}
`
}

function firstSentence(text: string): string {
  return text.split(/[;.(]\s?/)[0]!.trim()
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function parseShell(text: string): Shell {
  if (!Object.hasOwn(generators, text)) throw new InvalidArgumentError('Expected bash, zsh or fish.')
  return text as Shell
}
