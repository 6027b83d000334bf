import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { commands } from '../../cli/commands.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const GLOBAL_OPTIONS = ['--profile', '--env-file', '--json', '--help', '--version']

/** Returns the commands in a page: lines of code blocks and inline code that start with `attestry`, without `npx`. */
function findCommandLines(text: string): string[] {
  const codeLines = [...text.matchAll(/^```sh\n(.*?)^```$/gms), ...text.matchAll(/`([^`\n]+)`/g)].flatMap(([, code]) =>
    code!.replaceAll('\\\n', ' ').split('\n'),
  )
  return codeLines.flatMap((line) => /^\s*(?:[A-Z_]+=\S+ )*(?:npx )?attestry (.*)$/.exec(line)?.[1] ?? [])
}

/** Returns an error if the command line names a command or an option that does not exist. */
async function findMistake(line: string): Promise<string | undefined> {
  const words = line.split(/\s+/)
  const [name = '', ...otherWords] = words
  if (name.startsWith('-')) return undefined
  let command: Command | undefined = await commands[name]?.()
  if (!command) return `unknown command ${name}`
  for (const word of otherWords) {
    if (command.commands.length === 0 || !/^[a-z]+(-[a-z]+)*$/.test(word)) break
    const subcommand: Command | undefined = command.commands.find((each) => each.name() === word)
    if (!subcommand) return `unknown command ${command.name()} ${word}`
    command = subcommand
  }
  const options = command.options.flatMap(({ long, short }) => [long, short])
  const unknownOption = otherWords.find(
    (word) => /^--[a-z]/.test(word) && !GLOBAL_OPTIONS.includes(word) && !options.includes(word),
  )
  return unknownOption && `${command.name()} has no option ${unknownOption}`
}

for (const page of globSync(['*.md', 'docs/*.md', 'docs/{guides,reference}/*.md'], { cwd: root })) {
  if (page === 'CHANGELOG.md') continue // describes earlier versions too
  test(`the attestry commands of ${page} exist`, async () => {
    for (const line of findCommandLines(readFileSync(join(root, page), 'utf8'))) {
      assert.equal(await findMistake(line), undefined, line)
    }
  })
}
