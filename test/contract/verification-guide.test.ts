import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startApp } from '../support/app.ts'
import { oncePerFile } from '../support/cleanup.ts'
import { runClock } from '../support/clock.ts'
import { nodeVersions } from '../support/node-versions.ts'
import { verificationCalls } from '../support/verification.ts'

const guide = await readFile(new URL('../../docs/guides/verify-a-students-skills.md', import.meta.url), 'utf8')

function joinCodeBlocks(language: string): string {
  return [...guide.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(([, code]) => code).join('\n')
}

async function runCommand(command: string, args: string[], env: Record<string, string>) {
  const child = spawn(command, args, { env: { ...process.env, ...env } })
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
  return { calls, folder, env: { ATTESTRY_URL: calls.app.url, SESSION_KEY: calls.key } }
})

test('the bash program of the guide to verification works unchanged', async () => {
  const { calls, folder, env } = await setUp()
  await writeFile(join(folder, 'verify.sh'), joinCodeBlocks('bash'))
  const { out } = await runCommand('bash', ['-eu', join(folder, 'verify.sh')], env)
  const responses = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.ok(responses.every(({ success }) => success))
  const outcomes = responses.map(({ data }) => data).filter(({ status, score }) => status ?? score)
  assert.deepEqual(
    outcomes.map(({ status, score }) => [status, score]),
    [
      ['pending_review', null],
      [undefined, 100],
      ['completed', null],
    ],
  )
  const [email] = await calls.listEmails({ id: outcomes[0].serviceVerificationId, token: '', userId: '' })
  assert.equal(email!.to_address, 'ravi@metro.example')
})

for (const { name, path } of nodeVersions)
  test(`the JavaScript program of the guide to verification works unchanged, ${name}`, async () => {
    const { folder, env } = await setUp()
    await writeFile(join(folder, 'verify.mjs'), joinCodeBlocks('js'))
    const { out, err } = await runCommand('node', [join(folder, 'verify.mjs')], { ...env, PATH: path })
    const { status, score } = JSON.parse(out)
    assert.deepEqual([status, score], ['completed', 100])
    assert.match(err, /House wiring/)
  })
