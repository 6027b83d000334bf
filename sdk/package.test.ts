import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startApp } from '../test/support/app.ts'
import { partner } from '../test/support/partner.ts'
import { installSdk, packSdk } from '../test/support/sdk-package.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The machine's own Node, not the one of this project: partners have whatever they have. */
const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'))
const version = spawnSync('node', ['-p', 'process.versions.node.split(".")[0]'], {
  env: { PATH: path.join(delimiter) },
  encoding: 'utf8',
})
const skip = Number(version.stdout) >= 20 ? false : 'there is no node of version 20 or newer on the PATH'

const PROGRAM = `
import { AttestryClient, AttestryError, signWebhook, verifyWebhook } from '@attestry/sdk'
const { ATTESTRY_URL: baseUrl, ATTESTRY_KEY_ID: keyId, ATTESTRY_SECRET: secret } = process.env
const client = new AttestryClient({ baseUrl, keyId, secret })
const idempotencyKey = 'once'
const first = await client.call('POST', '/workflows', { body: { name: 'Site hiring' }, idempotencyKey })
const again = await client.call('POST', '/workflows', { body: { name: 'Site hiring' }, idempotencyKey })
for (const name of ['Two', 'Three']) await client.call('POST', '/workflows', { body: { name } })
const names = []
for await (const { name } of client.list('/workflows?limit=1')) names.push(name)
const refused = await client.call('POST', '/workflows', { body: { name: '' } }).catch((error) => error)
const webhookSecret = 'whsec_' + btoa('a secret of twenty-four b')
const body = JSON.stringify({ type: 'webhook.test' })
const headers = await signWebhook(body, { id: 'EV_1', secret: webhookSecret })
console.log(JSON.stringify({
  same: first.workflow_id === again.workflow_id,
  names,
  refused: [refused instanceof AttestryError, refused.status, refused.code, refused.details[0].path],
  verified: (await verifyWebhook(body, headers, webhookSecret)).type,
}))
`

const TYPES = `
import { AttestryClient, type AttestryAnswer, verifyWebhook } from '@attestry/sdk'
const client = new AttestryClient({ baseUrl: '', keyId: '', secret: '', retries: 2 })
export const answer: Promise<AttestryAnswer<{ data: string }>> = client.request('GET', '/shifts')
export const event: Promise<{ type: string }> = verifyWebhook('', new Headers(), '')
export const names: AsyncIterable<{ name: string }> = client.list('/workflows')
// @ts-expect-error a secret is a text
new AttestryClient({ baseUrl: '', keyId: '', secret: 5 })
`

test('the package as it is published', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-sdk-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const home = join(folder, 'elsewhere')
  mkdirSync(home)
  writeFileSync(join(home, 'package.json'), '{}')
  installSdk(home, packSdk(folder))

  await t.test('holds JavaScript, declarations and papers, nothing else', () => {
    const files = readdirSync(join(home, 'node_modules/@attestry/sdk'), { recursive: true, encoding: 'utf8' }).sort()
    const modules = ['client', 'error', 'index', 'retry', 'sign', 'webhooks']
    const built = modules.flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.js`])
    assert.deepEqual(files, ['LICENSE', 'README.md', 'dist', ...built, 'package.json'])
  })

  await t.test('is called from plain JavaScript by the Node of the machine', { skip }, async (inner) => {
    const app = await startApp(inner)
    const { key } = await partner(app)
    app.clock.set(Date.now()) // the program has a clock of its own
    const run = async (program: string) => {
      writeFileSync(join(home, 'program.mjs'), program)
      const own = { ATTESTRY_URL: app.url, ATTESTRY_KEY_ID: key.keyId, ATTESTRY_SECRET: key.secret }
      const child = spawn('node', ['program.mjs'], { cwd: home, env: { PATH: path.join(delimiter), ...own } })
      const said: string[] = []
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => said.push(String(chunk)))
      const [code] = await once(child, 'close')
      assert.equal(code, 0, said.join(''))
      return said.join('')
    }
    assert.deepEqual(JSON.parse(await run(PROGRAM)), {
      same: true,
      names: ['Three', 'Two', 'Site hiring'],
      refused: [true, 400, 'VALIDATION_FAILED', 'name'],
      verified: 'webhook.test',
    })
    const readme = readFileSync(join(home, 'node_modules/@attestry/sdk/README.md'), 'utf8')
    const sections = readme.split(/^## /m).filter((section) => /^(First call|Lists)\n/.test(section))
    const shown = sections.flatMap((section) => [...section.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code))
    assert.equal(shown.length, 3)
    const said = await run(shown.join('\n'))
    assert.match(said, /value: 'day'.*400 VALIDATION_FAILED.*name must have at least 1 character.*req_/s)
  })

  await t.test('brings its types', () => {
    writeFileSync(join(home, 'types.mts'), TYPES)
    const strict = [
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
    const { status, stdout } = spawnSync(compiler, [...strict, 'types.mts'], { cwd: home, encoding: 'utf8' })
    assert.equal(status, 0, stdout)
  })
})
