import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { signWebhook } from '../../sdk/index.ts'
import { eventTypes } from '../../server/events/types.ts'
import { findFreePort } from '../support/free-port.ts'
import { nodeVersions } from '../support/node-versions.ts'
import { buildSdk } from '../support/sdk-package.ts'
import { until } from '../support/until.ts'
import { assertBlocksRun, isPartOfReceiver, readBlocks } from './code-blocks.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const guide = readFileSync(join(root, 'docs/guides/receive-results.md'), 'utf8')

for (const [heading, language, needs, node = nodeVersions[0]!] of [
  ...nodeVersions.map((node) => ['JavaScript, with @attestry/sdk', 'js', 'true', node] as const),
  ['Python 3', 'python', 'python3 -c "import sys; sys.exit(sys.version_info < (3, 6))"'],
  ['Java 17', 'java', 'java --list-modules | grep -E "^jdk.compiler@(1[7-9]|[2-9][0-9])"'],
] as [string, string, string, (typeof nodeVersions)[number]?][]) {
  const skipReason = spawnSync('sh', ['-c', needs]).status !== 0 && `this machine cannot run ${heading}`
  test(`the receiver in ${heading} accepts only correctly signed webhooks, ${node.name}`, {
    skip: skipReason,
  }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'attestry-receiver-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    if (heading.includes('sdk')) buildSdk(folder)
    const [program, command] = [readCodeBlock(heading, language), readCodeBlock(heading, 'sh').replace(/ &\n$/, '')]
    writeFileSync(join(folder, command.split(' ').at(-1)!), program)
    const port = await findFreePort()
    const secret = `whsec_${randomBytes(32).toString('base64')}`
    const child = spawn('sh', ['-c', `exec ${command}`], {
      cwd: folder,
      env: { ...process.env, PATH: node.path, PORT: String(port), WEBHOOK_SECRET: secret },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    t.after(() => child.kill('SIGKILL'))
    let output = ''
    child.stdout.on('data', (chunk) => {
      output += chunk
    })

    const body = JSON.stringify({ event_id: 'EV_1', type: 'mandate.ready', data: { title: 'वेल्डर ß' } })
    const headers = await signWebhook(body, { id: 'EV_1', secret })
    const post = (text: string, extraHeaders: Record<string, string>) =>
      fetch(`http://127.0.0.1:${port}/attestry`, { method: 'POST', body: text, headers: extraHeaders }).then(
        ({ status }) => status,
      )
    await until(() => post('{}', {}).then(Boolean, () => false), 30_000)
    assert.equal(await post(body, headers), 204)
    await until(() => output.includes('EV_1'))
    const foreignHeaders = await signWebhook(body, {
      id: 'EV_1',
      secret: `whsec_${randomBytes(32).toString('base64')}`,
    })
    const bothSignatures = `${foreignHeaders['webhook-signature']} ${headers['webhook-signature']}`
    assert.equal(await post(body, { ...headers, 'webhook-signature': bothSignatures }), 204, 'one of two signatures')
    assert.equal(await post(body, foreignHeaders), 401, 'another secret')
    assert.equal(await post(`${body} `, headers), 401, 'another body')
    assert.equal(await post(body, { ...headers, 'webhook-id': 'EV_2' }), 401, 'another id')
    const oldHeaders = await signWebhook(body, { id: 'EV_1', secret, timestamp: Math.floor(Date.now() / 1000) - 600 })
    assert.equal(await post(body, oldHeaders), 401, 'an old timestamp')
    assert.equal(await post(body, {}), 401, 'no signature')
  })
}

test('the receivers are all programs of the guide', () => {
  const page = 'docs/guides/receive-results.md'
  const otherBlocks = readBlocks(page).filter((block) => !isPartOfReceiver(block)) // guides.test.ts runs them
  const receivers = [
    ['JavaScript, with @attestry/sdk', 'js'],
    ['Python 3', 'python'],
    ['Java 17', 'java'],
  ].flatMap(([heading, language]) => [readCodeBlock(heading!, language!), readCodeBlock(heading!, 'sh')])
  assertBlocksRun(page, [...otherBlocks.map(({ text }) => text), ...receivers])
})

test('events.md lists every event type', () => {
  const text = readFileSync(join(root, 'docs/reference/events.md'), 'utf8')
  const table = text.slice(text.indexOf('\n## Types\n'), text.indexOf('\n## Fan-out'))
  assert.deepEqual(
    [...table.matchAll(/^\| `([a-z_.]+)`/gm)].map(([, type]) => type),
    [...eventTypes],
  )
})

function readCodeBlock(heading: string, language: string): string {
  const section = guide.slice(guide.indexOf(`\n### ${heading}\n`))
  const match = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(section)
  assert.ok(match, `${heading} has a block of ${language}`)
  return match[1]!
}
