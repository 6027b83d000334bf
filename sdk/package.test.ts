import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { assertBlocksRun, readBlocks } from '../test/contract/code-blocks.ts'
import { startApp } from '../test/support/app.ts'
import { copyCheckout, linkPackages, NPM_WITHOUT_DOWNLOADS } from '../test/support/checkout-copy.ts'
import { oncePerFile } from '../test/support/cleanup.ts'
import { runClock, TestClock } from '../test/support/clock.ts'
import { findFreePort } from '../test/support/free-port.ts'
import { nodeVersions } from '../test/support/node-versions.ts'
import { createCampaignPartner, createPartner } from '../test/support/partners.ts'
import { installSdk, packSdk } from '../test/support/sdk-package.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** PATH without node_modules: the SDK must run on the machine's own Node, not only on the version that this project installs. */
const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'))
const version = spawnSync('node', ['-p', 'process.versions.node.split(".")[0]'], {
  env: { PATH: path.join(delimiter) },
  encoding: 'utf8',
})
const skip = Number(version.stdout) >= 20 ? false : 'no Node.js 20 or later on the PATH'

const PROGRAM = `
import { AttestryClient, AttestryError, signWebhook, verifyWebhook } from '@attestry/sdk'
const { ATTESTRY_URL: baseUrl, ATTESTRY_KEY_ID: keyId, ATTESTRY_SECRET: secret } = process.env
const client = new AttestryClient({ baseUrl, keyId, secret })
const idempotencyKey = 'once'
const first = await client.call('POST', '/workflows', { body: { name: 'Site hiring' }, idempotencyKey })
const repeated = await client.call('POST', '/workflows', { body: { name: 'Site hiring' }, idempotencyKey })
for (const name of ['Two', 'Three']) await client.call('POST', '/workflows', { body: { name } })
const names = []
for await (const { name } of client.list('/workflows?limit=1')) names.push(name)
const rejected = await client.call('POST', '/workflows', { body: { name: '' } }).catch((error) => error)
const webhookSecret = 'whsec_' + btoa('a secret of twenty-four b')
const body = JSON.stringify({ type: 'webhook.test' })
const headers = await signWebhook(body, { id: 'EV_1', secret: webhookSecret })
console.log(JSON.stringify({
  same: first.workflow_id === repeated.workflow_id,
  names,
  rejected: [rejected instanceof AttestryError, rejected.status, rejected.code, rejected.details[0].path],
  verified: (await verifyWebhook(body, headers, webhookSecret)).type,
}))
`

const TYPES = `
import { AttestryClient, type AttestryAnswer, type AttestryResponse, verifyWebhook } from '@attestry/sdk'
import type { ErrorDetail, Mandate, MandateInput, MandateList, MandateStatus } from '@attestry/sdk'
const client = new AttestryClient({ baseUrl: '', keyId: '', secret: '', retries: 2 })
export const response: Promise<AttestryResponse<{ data: string }>> = client.request('GET', '/shifts')
export const deprecatedName: Promise<AttestryAnswer<{ data: string }>> = response
export const event: Promise<{ type: string }> = verifyWebhook('', new Headers(), '')
export const names: AsyncIterable<{ name: string }> = client.list('/workflows')
// @ts-expect-error a secret is a string
new AttestryClient({ baseUrl: '', keyId: '', secret: 5 })
export const status: Promise<'preparing' | 'ready' | 'failed' | 'archived'> = client
  .call<Mandate>('GET', '/mandates/JM_1')
  .then(({ status }) => status)
export const detail: ErrorDetail = { path: 'name', message: 'is required' }
// @ts-expect-error skills are required
export const input: MandateInput = { workflow_id: '', title: '', company_name: '' }
export async function useResources(body: MandateInput) {
  const created = await client.mandates.create(body, { idempotencyKey: 'k' })
  const id: string = created.mandate_id
  for await (const mandate of client.mandates.list({ status: 'ready' })) mandate.status satisfies MandateStatus
  const page: MandateList = await client.mandates.list()
  // @ts-expect-error there is no such status
  client.mandates.list({ status: 'done' })
  // @ts-expect-error a session needs the name of the student
  client.sessions.open({ externalStudentId: 's-1', email: 's@example.com' })
  for await (const skill of client.catalogue.searchSkills({ keyword: 'weld' })) skill.skill_id satisfies string
  return { id, page }
}
export async function handle(body: Uint8Array, headers: Headers) {
  const event = await verifyWebhook(body, headers, 'whsec_')
  if (event.type === 'result.completed') return event.data.output.qualified
  if (event.type === 'mandate.ready') return event.data.mandate_id
  // @ts-expect-error data of this type has no output
  if (event.type === 'campaign.completed') return event.data.output
  return event.event_id
}
`

/** A project in which the packed SDK is installed. */
const createProject = oncePerFile(async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-sdk-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const project = join(folder, 'project')
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{}')
  installSdk(project, packSdk(folder))
  return project
})

test('the published package contains only JavaScript, declarations, README and licence', async () => {
  const project = await createProject()
  const files = readdirSync(join(project, 'node_modules/@attestry/sdk'), { recursive: true, encoding: 'utf8' }).sort()
  const modules =
    'client configuration error index list rejected-signature resources retry sign transport types verdict-texts webhooks'.split(
      ' ',
    )
  const builtFiles = modules.flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.js`])
  assert.deepEqual(files, ['LICENSE', 'README.md', 'dist', ...builtFiles, 'package.json'])
})

test("the published package works in plain JavaScript on the machine's own Node", { skip }, async (t) => {
  const project = await createProject()
  const app = await startApp(t)
  const { key } = await createPartner(app)
  app.clock.set(Date.now()) // the program uses the system clock
  const runProgram = async (program: string) => {
    writeFileSync(join(project, 'program.mjs'), program)
    const credentials = { ATTESTRY_URL: app.url, ATTESTRY_KEY_ID: key.keyId, ATTESTRY_SECRET: key.secret }
    const child = spawn('node', ['program.mjs'], {
      cwd: project,
      env: { PATH: path.join(delimiter), ...credentials },
    })
    const output: string[] = []
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(String(chunk)))
    const [code] = await once(child, 'close')
    assert.equal(code, 0, output.join(''))
    return output.join('')
  }
  assert.deepEqual(JSON.parse(await runProgram(PROGRAM)), {
    same: true,
    names: ['Three', 'Two', 'Site hiring'],
    rejected: [true, 400, 'VALIDATION_FAILED', 'name'],
    verified: 'webhook.test',
  })
})

/**
 * Combines the blocks of the README to one program. The code between them sets what the reader has: a record of a job, a handler of events
 * that stops the endless loop, and a delivery for the webhook endpoint.
 */
function combineBlocks(blocks: string[], port: number): string {
  const [firstCall, resources, errors, types, lists, retries, verdicts, webhooks, polling] = blocks
  return `
declare global {
  namespace NodeJS {
    interface ProcessEnv { WEBHOOK_SECRET: string }
  }
}
${firstCall}
${resources}
if (mandates.items.length > 0 || !session.sessionToken) throw new Error('unexpected data')
const { workflow_id } = workflow
${errors}
${types}
while ((await client.mandates.get(mandate.mandate_id)).status !== 'ready') await new Promise((resolve) => setTimeout(resolve, 100))
${lists}
const handled: string[] = []
const handle = async (event: { type: string }) => {
  handled.push(event.type)
  if (event.type === 'campaign.completed') throw new Error('the last event')
}
async function poll() {
${polling}
}
const polled = poll().catch((error: Error) => {
  if (error.message !== 'the last event') throw error
})
while (!handled.includes('mandate.ready')) await new Promise((resolve) => setTimeout(resolve, 100))
const job = {
  id: 7,
  mandateId: mandate_id,
  candidates: [{ external_candidate_id: 'c-1', name: 'Asha Rao', phone: '+919990000001' }],
}
${retries}
await polled
console.log('acknowledged', (await client.events.list({ acknowledged: 'true' })).items.map(({ type }) => type).join())
${verdicts}
${webhooks!.replace('3000', String(port))}
import { signWebhook } from '@attestry/sdk'
const delivery = JSON.stringify({ event_id: 'EV_1', type: 'webhook.test', data: {} })
const headers = await signWebhook(delivery, { id: 'EV_1', secret: process.env.WEBHOOK_SECRET })
const post = (body: string) => fetch('http://127.0.0.1:${port}', { method: 'POST', body, headers })
console.log('statuses', (await post(delivery)).status, (await post(delivery + ' ')).status)
process.exit()
`
}

test('the blocks of the README install the package, and form a program that compiles under strict and runs', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-sdk-readme-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const project = join(folder, 'project')
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }')
  copyCheckout(join(folder, 'attestry'), 'sdk')
  linkPackages(join(folder, 'attestry'), ['.bin', 'typescript', '@typescript'])
  const page = 'sdk/README.md'
  const [build, install] = readBlocks(page, ['sh']).map(({ text }) => text)
  const blocks = readBlocks(page, ['js', 'ts']).map(({ text }) => text)
  assertBlocksRun(page, [build!, install!, ...blocks])
  const port = await findFreePort()
  writeFileSync(join(project, 'program.ts'), combineBlocks(blocks, port))
  const script = [
    NPM_WITHOUT_DOWNLOADS,
    'cd attestry',
    build,
    'cd ../project',
    install,
    `${join(root, 'node_modules/.bin/tsc')} --strict --module nodenext --target es2022 --types node --typeRoots ${join(root, 'node_modules/@types')} program.ts`,
  ].join('\n')
  const app = await startApp(t, { worker: true, clock: new TestClock(Date.now()) })
  runClock(t, app.clock)
  const run = async (text: string, cwd: string, env: Record<string, string>) => {
    const child = spawn('bash', ['--norc', '-euc', text], { cwd, env: { HOME: folder, ...env } })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        output += chunk
      })
    const [code] = await once(child, 'close')
    assert.equal(code, 0, output)
    return output
  }
  await run(script, folder, { PATH: process.env.PATH! })
  for (const node of nodeVersions) {
    const { orgId, key } = await createCampaignPartner(app)
    const output = await run('node program.js', project, {
      PATH: node.path,
      ATTESTRY_URL: app.url,
      ATTESTRY_KEY_ID: key.keyId,
      ATTESTRY_SECRET: key.secret,
      ATTESTRY_SESSION_KEY: await app.fixtures.createSessionKey(orgId, 'test'),
      WEBHOOK_SECRET: `whsec_${Buffer.from('a secret of twenty-four b').toString('base64')}`,
    })
    assert.match(output, /^day$.*^sk_\d+$.*^400 VALIDATION_FAILED.*^name must not be blank$.*^req_/ms, node.name)
    assert.match(output, /^JM_\w+$.*^acknowledged .*mandate\.ready.*^Asha Rao qualified.*correct/ms, node.name)
    assert.match(output, /^EV_1 webhook\.test$.*^statuses 204 401$/ms, node.name)
  }
})

test('the published package includes type declarations', async () => {
  const project = await createProject()
  writeFileSync(join(project, 'types.mts'), TYPES)
  const compilerOptions = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2022',
    '--lib',
    'es2022,dom',
    '--types',
    '',
  ]
  const compiler = join(root, 'node_modules/.bin/tsc')
  const { status, stdout } = spawnSync(compiler, [...compilerOptions, 'types.mts'], { cwd: project, encoding: 'utf8' })
  assert.equal(status, 0, stdout)
})
