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

interface BlockWithoutRun {
  /** Start of the block. */
  start: string
  reason: string
  /** A test that runs the same, and a text in it that shows this. */
  test?: [file: string, text: string]
}

const needsDocker = { reason: 'needs a Docker daemon and a domain' }
const runsUntilStopped = { reason: 'starts a server that runs until it is stopped' }

/** Blocks that no test runs, with the reason. Do not add a block that can run. */
export const blocksWithoutRun: Record<string, BlockWithoutRun[]> = {
  'README.md': [{ start: 'npm test', reason: 'runs all tests', test: ['.ci/run', 'npm test'] }],
  'docs/guides/run-on-kubernetes.md': [
    { start: 'kubectl create secret', reason: 'needs a cluster' },
    { start: 'helm install', reason: 'needs a cluster', test: ['test/deploy/deploy.test.ts', 'helm'] },
  ],
  'docs/guides/run-with-compose.md': [
    { start: 'deploy/create-secrets.sh', ...needsDocker, test: ['test/deploy/deploy.test.ts', 'create-secrets.sh'] },
    { start: 'docker compose -f deploy/compose.yaml exec api attestry org create', ...needsDocker },
    { start: 'docker buildx build', reason: 'pushes an image to a registry' },
    { start: 'docker compose -f deploy/compose.yaml build', ...needsDocker },
    { start: 'npm run release', ...runsUntilStopped, test: ['test/release/release.test.ts', 'tar'] },
  ],
  'docs/guides/run-with-systemd.md': [
    { start: 'useradd', reason: 'needs root and systemd', test: ['test/deploy/deploy.test.ts', 'attestry.service'] },
  ],
  'docs/guides/use-the-command-line.md': [
    {
      start: 'npm ci',
      reason: 'installs a program for all users of the machine',
      test: ['cli/partner-cli.test.ts', 'pack'],
    },
  ],
  'examples/ats-express/README.md': [
    { start: 'npm install', ...runsUntilStopped, test: ['test/examples/examples.test.ts', 'ats-express'] },
  ],
  'examples/college-portal-fastify/README.md': [
    { start: 'npm install', ...runsUntilStopped, test: ['test/examples/examples.test.ts', 'college-portal-fastify'] },
  ],
  'sdks/php/README.md': [{ start: 'composer config', reason: 'needs Composer and its registry' }],
  'sdks/python/README.md': [{ start: 'pip install', reason: 'downloads the build system from the registry of Python' }],
}

/** Returns the blocks of a page that a test must run. */
export function readBlocksToRun(page: string): CodeBlock[] {
  const skipped = blocksWithoutRun[page] ?? []
  return readBlocks(page).filter(({ text }) => !skipped.some(({ start }) => text.startsWith(start)))
}
