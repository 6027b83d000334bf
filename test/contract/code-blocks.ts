import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Pages of the documentation, by path from the root of the checkout. */
export const pages = globSync(
  '{*.md,cli/*.md,sdk/*.md,sdks/*/*.md,docs/*.md,docs/{guides,reference}/*.md,examples/**/*.md}',
  { cwd: root },
).sort()

const PROGRAM_LANGUAGES = ['sh', 'bash', 'js', 'ts', 'python', 'go', 'java', 'php']

export interface CodeBlock {
  language: string
  text: string
}

/** Returns the blocks of a page with a program or with commands. Blocks of lists are indented. */
export function readBlocks(page: string, languages = PROGRAM_LANGUAGES): CodeBlock[] {
  const fences = readFileSync(join(root, page), 'utf8').matchAll(/^( *)```(\w+)\n(.*?)^\1```$/gms)
  return [...fences]
    .map(([, indent, language, text]) => ({
      language: language!,
      text: text!.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }))
    .filter(({ language }) => languages.includes(language))
}
