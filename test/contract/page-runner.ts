import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readConfig } from '../../server/config.ts'
import { ADMIN_KEY, startApp, type TestApp } from '../support/app.ts'
import { BACKUP_KEY } from '../support/backups.ts'
import { oncePerFile } from '../support/cleanup.ts'
import { runClock, TestClock } from '../support/clock.ts'
import { nodeOptions } from '../support/node-options.ts'
import { nodeVersions } from '../support/node-versions.ts'
import { createCampaignPartner } from '../support/partners.ts'
import { until } from '../support/until.ts'
import { type CodeBlock, readBlocks } from './code-blocks.ts'

// Runs the blocks of a page in one shell and in their order, as a reader would who replaces the placeholders. The pages of a test file
// share a server.

const root = fileURLToPath(new URL('../../', import.meta.url))
const PHONE = '+919812345678'

export interface PageRun {
  /** Texts of the page, and the values that a reader would write instead. */
  replace?: Record<string, string>
  /** Commands before the first block. */
  before?: string[]
  env?: Record<string, string>
  /** Pattern that the output must match. */
  output?: RegExp
}

export interface Site {
  t: TestContext
  app: TestApp
  folder: string
  orgId: string
}

/** Starts the server of a test file, with background jobs. */
export const startShared = oncePerFile(async (t) => {
  const app = await startApp(t, { worker: true, clock: new TestClock(Date.now()) })
  runClock(t, app.clock)
  return app
})

// The launcher of the command line starts on the machine's own Node, such as Node 20, and then runs on the bundled one.
const { path } = nodeVersions.at(-1)!

/** Returns a name and a function for the test of each page. */
export function pageTests(
  pageRuns: Record<string, (site: Site) => Promise<PageRun>>,
): [name: string, run: (t: TestContext) => Promise<void>][] {
  return Object.entries(pageRuns).map(([page, preparePage]) => [
    `the blocks of ${page} run`,
    async (t) => {
      const app = await startShared()
      const folder = mkdtempSync(join(tmpdir(), 'attestry-page-'))
      t.after(() => rmSync(folder, { recursive: true, force: true }))
      const { orgId, key } = await createCampaignPartner(app)
      const { replace = {}, before = [], env, output } = await preparePage({ t, app, folder, orgId })
      mkdirSync(join(folder, '.attestry'), { recursive: true })
      const demoKeys = { key_id: key.keyId, secret: key.secret }
      writeFileSync(join(folder, '.attestry/demo-keys.json'), JSON.stringify(demoKeys, null, 2))
      const blocks = readBlocks(page)
      assert.ok(blocks.length > 0)
      const settings = blocks.filter(({ text }) => isSettings(text))
      for (const { text } of settings) checkSettings(text)
      const script = [
        `npx() { shift; ${join(root, 'bin/attestry.mjs')} "$@"; }`,
        'attestry() { npx attestry "$@"; }',
        ...before,
        ...blocks.filter((block) => !settings.includes(block)).map((block) => commandsOf(block, folder)),
      ].join('\n')
      const text = Object.entries({ ...replace, 'http://127.0.0.1:8080': app.url }).reduce(
        (result, [placeholder, value]) => result.replaceAll(placeholder, value),
        script,
      )
      const outcome = await runShell(text, folder, {
        ...environmentOf(app),
        ...{ ATTESTRY_URL: app.url, ATTESTRY_KEY_ID: key.keyId, ATTESTRY_SECRET: key.secret },
        ...env,
      })
      assert.equal(outcome.code, 0, outcome.output)
      if (output) assert.match(outcome.output, output)
    },
  ])
}

/** Enrols two LIVE candidates, and returns the IDs of the people. */
export async function enrolPeople({ app, orgId }: Site): Promise<{ personId: string; otherPersonId: string }> {
  const partner = await createCampaignPartner(app, { mode: 'live', orgId })
  const { mandate_id } = await partner.createMandate({ channels: ['whatsapp'] })
  const isReady = async () => (await partner.get(`/mandates/${mandate_id}`)).body.data.status === 'ready'
  await until(isReady)
  await partner.createCampaign(mandate_id, [
    { external_candidate_id: 'c-1', name: 'Asha Rao', phone: PHONE },
    { external_candidate_id: 'c-2', name: 'Ravi Iyer', phone: '+919812345679' },
  ])
  const find = async (phone: string) =>
    (await partner.get(`/people?phone=${encodeURIComponent(phone)}`)).body.data.items[0].person_id
  return { personId: await find(PHONE), otherPersonId: await find('+919812345679') }
}

export function orgIn({ orgId }: Site): Record<string, string> {
  return { 'ORG_…': orgId }
}

export async function createKey({ app, orgId }: Site, mode: 'test' | 'live') {
  return app.fixtures.createPartnerKey(orgId, { mode })
}

/** Returns whether a block consists of settings of the server, such as `export HOST=0.0.0.0`. */
function isSettings(text: string): boolean {
  return text
    .trim()
    .split('\n')
    .every((line) => /^(export )?([A-Z_]+=('[^']*'|"[^"]*"|[^\s'"]+)\s*)+(#.*)?$/.test(line))
}

/** Reads settings as the server does; it throws an error with one line per invalid value. */
function checkSettings(text: string): void {
  const assignments = text.replaceAll(/#.*$/gm, '').matchAll(/([A-Z_]+)=('[^']*'|"[^"]*"|\S+)/g)
  const variables = Object.fromEntries(
    [...assignments].map(([, name, value]) => [
      name!,
      value!.replaceAll(/^['"]|['"]$/g, '').replaceAll('…', '0123456789abcdef0123456789abcdef'),
    ]),
  )
  const required = {
    DATABASE_URL: 'postgres://attestry@db.internal/attestry',
    MASTER_KEY: Buffer.alloc(32).toString('base64'),
    ADMIN_API_KEY: ADMIN_KEY,
    PUBLIC_URL: 'https://verify.example.com',
  }
  readConfig({ ...required, SMTP_URL: 'smtp://127.0.0.1', MAIL_FROM: 'post@example.com', ...variables })
}

/** Returns the shell commands of a block. A program is run on every Node version. */
function commandsOf({ language, text }: CodeBlock, folder: string): string {
  if (language === 'sh' || language === 'bash') return text
  assert.equal(language, 'js')
  const program = `import { AttestryClient } from '@attestry/sdk'\nconst client = new AttestryClient()\n${text}`
  writeFileSync(join(folder, 'program.mjs'), program)
  return nodeVersions.map((node) => `PATH=${node.path} node program.mjs`).join('\n')
}

export function environmentOf({ context }: TestApp): Record<string, string> {
  const { databaseUrl, databaseOwnerUrl, masterKey } = context.config
  return {
    DATABASE_URL: databaseUrl!,
    DATABASE_OWNER_URL: databaseOwnerUrl!,
    MASTER_KEY: masterKey!.toString('base64'),
    ADMIN_API_KEY: ADMIN_KEY,
    BACKUP_KEY,
    PUBLIC_URL: context.config.publicUrl!,
    NODE_OPTIONS: nodeOptions.join(' '),
  }
}

export async function runShell(script: string, cwd: string, env: Record<string, string>) {
  const child = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd,
    env: { HOME: cwd, TMPDIR: cwd, PATH: path, ...env },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk
    })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output }
}
