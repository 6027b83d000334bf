import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readConfig } from '../../server/config.ts'
import { ADMIN_KEY, startApp, type TestApp } from '../support/app.ts'
import { BACKUP_KEY, createEmptyDatabase } from '../support/backups.ts'
import { oncePerFile } from '../support/cleanup.ts'
import { runClock, TestClock } from '../support/clock.ts'
import { issueCredential, readPublic } from '../support/issued-credentials.ts'
import { nodeVersions } from '../support/node-versions.ts'
import { buildPartnerCli } from '../support/partner-cli.ts'
import { createCampaignPartner } from '../support/partners.ts'
import { startReceiver } from '../support/receiver.ts'
import { buildSdk } from '../support/sdk-package.ts'
import { until } from '../support/until.ts'
import { plantRing, verificationCalls } from '../support/verification.ts'
import { type CodeBlock, readBlocks, readBlocksToRun } from './code-blocks.ts'

// Runs the blocks of a page in one shell and in their order, as a reader would who replaces the placeholders. All pages share a server.

const root = fileURLToPath(new URL('../../', import.meta.url))
const PHONE = '+919812345678'

interface PageRun {
  /** Texts of the page, and the values that a reader would write instead. */
  replace?: Record<string, string>
  /** Commands before the first block. */
  before?: string[]
  env?: Record<string, string>
  /** Lines that a reader types. */
  input?: string
  /** What the output must contain. */
  output?: RegExp
}

interface Site {
  t: TestContext
  app: TestApp
  folder: string
  orgId: string
}

/** The pages, each with its preparation. */
const pageRuns: Record<string, (site: Site) => Promise<PageRun>> = {
  'README.md': async (site) => ({
    replace: { ...orgIn(site), 'VFN_TEST_…': (await createKey(site, 'test')).keyId },
    output: /"skill_id".*Created ORG_.*is off/s,
  }),
  'docs/guides/back-up-and-restore.md': async ({ t, folder }) => {
    const empty = await createEmptyDatabase(t)
    const backup = `$(ls ${folder}/backups/*.attestry-backup | head -n 1)`
    return {
      replace: {
        '/mnt/backups/attestry-20260131T023000Z-0a1b2c.attestry-backup': backup,
        '/mnt/backups/': `${folder}/backups/`,
        'npx attestry restore': `DATABASE_URL='${empty.env.DATABASE_URL}' DATABASE_OWNER_URL='${empty.ownerUrl}' npx attestry restore`,
        'npm start\n': '', // runs until it is stopped; test/e2e/ starts servers
      },
      before: [`mkdir ${folder}/backups`],
    }
  },
  'docs/guides/connect-ashby.md': (site) => connectAts(site, 'ashby'),
  'docs/guides/connect-greenhouse.md': (site) => connectAts(site, 'greenhouse'),
  'docs/guides/connect-workable.md': (site) => connectAts(site, 'workable'),
  'docs/guides/email.md': async () => ({ output: /asha@example\.com|suppress/ }),
  'docs/guides/observe.md': async () => ({}),
  'docs/guides/peoples-rights.md': async (site) => {
    const { personId, otherPersonId } = await enrolPeople(site)
    return {
      replace: { ...orgIn(site), 'hold PER_…': `hold ${otherPersonId}`, 'PER_…': personId },
      input: `${personId}\n`,
    }
  },
  'docs/guides/question-statistics.md': async (site) => ({
    replace: { ...orgIn(site), ITEM_ID: '$ITEM' },
    before: [
      'ITEM=$(npx attestry items list --skill sk_2001 --json | sed -n \'s/.*"item_id": "\\(.*\\)".*/\\1/p\' | head -n 1)',
      'npx attestry items retire "$ITEM"',
    ],
    output: /restored.*retired/is,
  }),
  'docs/guides/run-in-production.md': async (site) => ({
    replace: { ...orgIn(site), 'npx attestry init': 'npx attestry --env-file new.env init' },
    before: ['npx attestry operator add you@example.com'],
  }),
  'docs/guides/set-up-channels.md': async (site) => {
    const [settings] = readBlocks('docs/guides/set-up-channels.md', ['json'])
    writeFileSync(join(site.folder, 'whatsapp.json'), settings!.text.replaceAll('…', '0123456789abcdef'))
    return { replace: orgIn(site), output: /whatsapp/ }
  },
  'docs/guides/share-and-check-credentials.md': async (site) => {
    const { app, orgId, folder } = site
    const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId))
    const student = { externalStudentId: 's-2', email: 'person@example.org' }
    const [first, second] = [await issueCredential(calls), await issueCredential(calls, { student })]
    const { credential } = await readPublic(app, second.id)
    writeFileSync(join(folder, 'badge.json'), JSON.stringify(credential))
    const key = await app.fixtures.createSessionKey(orgId)
    return {
      replace: { ...orgIn(site), 'crd_…': first.id, 'CK_…': '$KEY', 'https://verify.example.com': app.url },
      before: [
        `KEY=$(npx attestry credential keys list --org ${orgId} --json | sed -n 's/.*"key_id": "\\(.*\\)".*/\\1/p' | head -n 1)`,
        `session_token=${second.session.token} SESSION_KEY=${key}`,
      ],
      output: /"credentials".*"verdict":"valid".*VALID: /s,
    }
  },
  'docs/guides/the-console.md': async (site) => ({
    replace: orgIn(site),
    before: ['npx attestry operator add operator@localhost'],
    output: /meera@example\.com.*asha@example\.com/s,
  }),
  'docs/guides/upgrade.md': async () => ({ output: /up to date|No migration|0 migrations/i }),
  'docs/guides/use-your-own-questions.md': async (site) => {
    const [file] = readBlocks('docs/guides/use-your-own-questions.md', ['csv'])
    writeFileSync(join(site.folder, 'questions.csv'), file!.text)
    return {
      replace: { ...orgIn(site), '"skill,id,…"': JSON.stringify(file!.text).replaceAll("'", "'\\''") },
      output: /"dry_run": true/,
    }
  },
  'docs/reference/analytics.md': async ({ folder }) => {
    buildSdk(folder)
    return {}
  },
  'docs/reference/endorsement-evidence.md': async (site) => {
    const { app, orgId } = site
    await plantRing(verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId)))
    return {
      replace: { 'RG_…': '$RING' },
      before: [
        `RING=$(npx attestry endorsements rings --detect --mode live --json | sed -n 's/.*"ring_id": "\\(.*\\)".*/\\1/p' | head -n 1)`,
      ],
      output: /is dismissed/,
    }
  },
  'docs/reference/limits.md': async (site) => ({
    replace: {
      ...orgIn(site),
      'VFN_TEST_…': (await createKey(site, 'test')).keyId,
      'VFN_LIVE_…': (await createKey(site, 'live')).keyId,
    },
  }),
  'docs/reference/privacy.md': async (site) => ({
    replace: orgIn(site),
    input: `${site.orgId}\n`,
    output: /acme\.ndjson/,
  }),
  'docs/reference/question-bank.md': async () => ({ before: [`cd ${root}`] }),
  'examples/python-batch/README.md': async ({ folder }) => {
    for (const name of ['sdks', 'examples']) symlinkSync(join(root, name), join(folder, name))
    return { replace: { ' results.csv': ' results.csv; head -n 3 results.csv' }, output: /completed/ }
  },
}

const startShared = oncePerFile(async (t) => {
  const app = await startApp(t, { worker: true, clock: new TestClock(Date.now()) })
  runClock(t, app.clock)
  return app
})

// The launcher of the command line starts on the machine's own Node, such as Node 20, and then runs on the bundled one.
const { path } = nodeVersions.at(-1)!

for (const [page, preparePage] of Object.entries(pageRuns)) {
  test(`the blocks of ${page} run`, async (t) => {
    const app = await startShared()
    const folder = mkdtempSync(join(tmpdir(), 'attestry-page-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const { orgId, key } = await createCampaignPartner(app)
    const { replace = {}, before = [], env, input = '', output } = await preparePage({ t, app, folder, orgId })
    mkdirSync(join(folder, '.attestry'), { recursive: true })
    const demoKeys = { key_id: key.keyId, secret: key.secret }
    writeFileSync(join(folder, '.attestry/demo-keys.json'), JSON.stringify(demoKeys, null, 2))
    const blocks = readBlocksToRun(page)
    assert.ok(blocks.length > 0)
    const settings = blocks.filter(({ text }) => isSettings(text))
    for (const { text } of settings) checkSettings(text)
    const script = [
      `npx() { shift; node ${join(root, 'bin/attestry.mjs')} "$@"; }`,
      'attestry() { npx attestry "$@"; }',
      ...before,
      ...blocks.filter((block) => !settings.includes(block)).map((block) => commandsOf(block, folder)),
    ].join('\n')
    const text = Object.entries({ ...replace, 'http://127.0.0.1:8080': app.url }).reduce(
      (result, [placeholder, value]) => result.replaceAll(placeholder, value),
      script,
    )
    const outcome = await runShell(text, folder, input, {
      ...environmentOf(app),
      ...{ ATTESTRY_URL: app.url, ATTESTRY_KEY_ID: key.keyId, ATTESTRY_SECRET: key.secret },
      ...env,
    })
    assert.equal(outcome.code, 0, outcome.output)
    if (output) assert.match(outcome.output, output)
  })
}

test('the blocks of use-the-command-line.md and cli/README.md run', async (t) => {
  const app = await startShared()
  const cli = buildPartnerCli(t)
  const receiver = await startReceiver(t)
  const { orgId, key } = await createCampaignPartner(app)
  const site = { t, app, folder: cli.folder, orgId }
  const live = await createKey(site, 'live')
  const { personId } = await enrolPeople(site)
  for (const node of nodeVersions) {
    for (const page of ['docs/guides/use-the-command-line.md', 'cli/README.md']) {
      const script = [
        `attestry() {
          case "$*" in
            listen*|logs\\ tail*) timeout --signal=INT 5 node ${cli.folder}/program/attestry.js "$@" || test $? = 124 ;;
            *) node ${cli.folder}/program/attestry.js "$@" ;;
          esac
        }`,
        `rm -f export.html; echo ${live.secret} | attestry profile save acme-live --url ${app.url} --key-id ${live.keyId}`,
        ...readBlocksToRun(page).map(({ text }) => text),
      ].join('\n')
      const text = script
        .replaceAll('https://verify.example.com', app.url)
        .replaceAll('http://localhost:3000/webhooks', receiver.url)
        .replaceAll(`attestry profile save acme-test`, `echo ${key.secret} | attestry profile save acme-test`)
        .replaceAll('VFN_TEST_…', key.keyId)
        .replaceAll('PER_…', personId)
      const env = { ...cli.env, PATH: node.path } as Record<string, string>
      const outcome = await runShell(text, cli.folder, `${personId}\n`, env)
      assert.equal(outcome.code, 0, `${node.name}: ${outcome.output}`)
    }
  }
  assert.ok(receiver.received.length > 0, 'listen and trigger forward events')
})

function orgIn({ orgId }: Site): Record<string, string> {
  return { 'ORG_…': orgId }
}

async function createKey({ app, orgId }: Site, mode: 'test' | 'live') {
  return app.fixtures.createPartnerKey(orgId, { mode })
}

/** Enrols two LIVE candidates, and returns the IDs of the people. */
async function enrolPeople({ app, orgId }: Site): Promise<{ personId: string; otherPersonId: string }> {
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

/** The guide of an ATS: the placeholders are the connection and the order of the simulation at the start. */
async function connectAts(site: Site, name: string): Promise<PageRun> {
  for (const file of ['ashby-key.txt', 'workable-token.txt'])
    writeFileSync(join(site.folder, file), 'token-of-the-test\n')
  const readId = (command: string, field: string) =>
    `$(npx attestry ats ${command} --org ${site.orgId} --json | sed -n 's/.*"${field}": "\\(.*\\)".*/\\1/p' | head -n 1)`
  return {
    replace: {
      'simulate ': `simulate --org ${site.orgId} --url ${site.app.url} --port ${await findFreePort()} `,
      ...orgIn(site),
      'AO_…': readId('orders', 'order_id'),
      '--revoke VAT_LIVE_…': '--help',
      'AC_…': readId('list', 'connection_id'),
    },
    output: new RegExp(`${name}.*VAT_LIVE_.*Disconnected AC_`, 'is'),
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Whether a block consists of settings of the server, such as `export HOST=0.0.0.0`. */
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

function environmentOf({ context }: TestApp): Record<string, string> {
  const { databaseUrl, databaseOwnerUrl, masterKey } = context.config
  return {
    DATABASE_URL: databaseUrl!,
    DATABASE_OWNER_URL: databaseOwnerUrl!,
    MASTER_KEY: masterKey!.toString('base64'),
    ADMIN_API_KEY: ADMIN_KEY,
    BACKUP_KEY,
    PUBLIC_URL: context.config.publicUrl!,
  }
}

async function runShell(script: string, cwd: string, input: string, env: Record<string, string>) {
  const child = spawn('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
    cwd,
    env: { HOME: cwd, TMPDIR: cwd, PATH: path, ...env },
  })
  child.stdin.on('error', () => {}) // no command reads it
  child.stdin.end(input)
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk
    })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output }
}
