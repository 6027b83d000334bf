import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startApp } from '../support/app.ts'
import { oncePerFile } from '../support/cleanup.ts'
import { runClock } from '../support/clock.ts'
import { nodeOptions } from '../support/node-options.ts'
import { nodeVersions } from '../support/node-versions.ts'
import { verificationCalls } from '../support/verification.ts'
import { assertBlocksRun, readBlocks } from './code-blocks.ts'
import { environmentOf } from './page-runner.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

const PAGE = 'docs/guides/verify-a-students-skills.md'

function joinCodeBlocks(...languages: string[]): string {
  return readBlocks(PAGE, languages)
    .map(({ text }) => text)
    .join('\n')
}

async function runCommand(command: string, args: string[], cwd: string, env: Record<string, string>) {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env } })
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  child.stderr.on('data', (chunk) => {
    err += chunk
  })
  const [code] = await once(child, 'close')
  assert.equal(code, 0, err)
  return { out, err }
}

const setUp = oncePerFile(async (t) => {
  const app = await startApp(t, { worker: true })
  runClock(t, app.clock)
  const { orgId } = await app.fixtures.createOrg()
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId, 'test'), 'test')
  const folder = await mkdtemp(join(tmpdir(), 'attestry-guide-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  await mkdir(join(folder, '.attestry'))
  await writeFile(join(folder, '.attestry/demo-keys.json'), JSON.stringify({ session_key: calls.key }, null, 2))
  return { calls, folder, env: { ATTESTRY_URL: calls.app.url, SESSION_KEY: calls.key } }
})

test('the commands of the guide to verification work in one shell', async () => {
  const { calls, folder } = await setUp()
  const commands = Object.entries({
    'http://127.0.0.1:8080': calls.app.url,
    // The reader copies the ID and the token from the output.
    'mail show ML_…':
      'mail show "$(npx attestry mail list --about "$id" --json | grep -o "ML_[0-9A-Z]*" | head -n 1)" | tee mail.txt',
    'vrt_…': '$(grep -o "vrt_[A-Za-z0-9_-]*" mail.txt | head -n 1)',
  }).reduce((text, [placeholder, value]) => text.replaceAll(placeholder, value), joinCodeBlocks('sh', 'bash'))
  const program = [process.execPath, ...nodeOptions, join(root, 'cli/main.ts')].map((part) => JSON.stringify(part))
  const npx = `npx() { shift; ${program.join(' ')} "$@"; }`
  await writeFile(join(folder, 'verify.sh'), `${npx}\n${commands}`)
  const { out } = await runCommand('bash', ['-eu', 'verify.sh'], folder, environmentOf(calls.app))
  const responses = out
    .trim()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
  assert.ok(responses.every(({ success }) => success))
  const outcomes = responses.map(({ data }) => data).filter(({ status, score }) => status ?? score)
  assert.deepEqual(
    outcomes.map(({ status, score }) => [status, score]),
    [
      ['pending_review', null],
      ['completed', undefined],
      [undefined, 100],
      ['completed', null],
    ],
  )
  const emails = await calls.listEmails({ id: outcomes[0].serviceVerificationId, token: '', userId: '' })
  assert.deepEqual(emails.map(({ to_address }) => to_address).toSorted(), ['asha@example.com', 'ravi@metro.example'])
  assertBlocksRun(
    PAGE,
    readBlocks(PAGE, ['sh', 'bash', 'js']).map(({ text }) => text),
  )
})

for (const { name, path } of nodeVersions)
  test(`the JavaScript program of the guide to verification works unchanged, ${name}`, async () => {
    const { folder, env } = await setUp()
    await writeFile(join(folder, 'verify.mjs'), joinCodeBlocks('js'))
    const { out, err } = await runCommand('node', ['verify.mjs'], folder, { ...env, PATH: path })
    const { status, score } = JSON.parse(out)
    assert.deepEqual([status, score], ['completed', 100])
    assert.match(err, /House wiring/)
  })
