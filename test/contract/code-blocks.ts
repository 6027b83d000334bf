import assert from 'node:assert/strict'
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

/** Languages of blocks that are not run, and what these blocks contain. */
const OTHER_LANGUAGES: Record<string, string> = {
  text: 'output, or the configuration of another program',
  json: 'bodies of requests and responses, and files that commands read',
  csv: 'files that commands read',
  html: 'a page, which the browser test of embedded pages opens',
  http: 'an example of a delivery',
  ini: 'the configuration of another program',
  mermaid: 'diagrams',
  sql: "a statement for a table of the reader's own program",
  xml: 'the configuration of another program',
  yaml: 'the configuration of another program',
}

export interface CodeBlock {
  language: string
  text: string
}

/** Returns the blocks of a page with a program or with commands. Blocks of lists are indented. */
export function readBlocks(page: string, languages = PROGRAM_LANGUAGES): CodeBlock[] {
  const fences = readFileSync(join(root, page), 'utf8').matchAll(/^( *)```(\w*)\n(.*?)^\1```$/gms)
  return [...fences]
    .map(([, indent, language, text]) => ({
      language: language!,
      text: text!.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }))
    .filter(({ language }) => languages.includes(language))
}

/** Asserts that each block of a page has the language of a program, or one that is known not to be run. */
export function assertLanguagesKnown(page: string): void {
  const fences = readFileSync(join(root, page), 'utf8').match(/^ *```.*$/gm) ?? []
  const languages = fences.filter((_, index) => index % 2 === 0).map((fence) => fence.trim().slice(3))
  for (const language of languages)
    assert.ok(
      PROGRAM_LANGUAGES.includes(language) || Object.hasOwn(OTHER_LANGUAGES, language),
      `${page} has a block of the language "${language}"; expected one of ${[...PROGRAM_LANGUAGES, ...Object.keys(OTHER_LANGUAGES)].join(', ')}`,
    )
}

/** Asserts that every block of a page with a program or commands is among the blocks that tests run. */
export function assertBlocksRun(page: string, testedBlocks: string[]): void {
  const missing = readBlocks(page).filter(({ text }) => !testedBlocks.includes(text))
  assert.deepEqual(missing, [], `no test runs these blocks of ${page}`)
}

/** Returns whether a block of receive-results.md is one of the receivers, or starts one in the background. */
export function isPartOfReceiver({ language, text }: CodeBlock): boolean {
  return language !== 'sh' || text.endsWith(' &\n')
}
