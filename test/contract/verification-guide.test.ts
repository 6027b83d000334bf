import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { oncePerFile } from '../support/cleanup.ts'
import { startVerification } from '../support/verification.ts'

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
  const calls = await startVerification(t)
  const folder = await mkdtemp(join(tmpdir(), 'attestry-guide-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return { calls, folder, env: { ATTESTRY_URL: calls.app.url, SESSION_KEY: calls.key } }
})

test('the bash program of the guide to verification works unchanged', async () => {
  const { calls, folder, env } = await setUp()
  await writeFile(join(folder, 'verify.sh'), joinCodeBlocks('bash'))
  const { out } = await runCommand('bash', ['-eu', join(folder, 'verify.sh')], env)
  assert.equal(out.match(/^{"success":true/gm)?.length, 5, 'each response is on a separate line')
  const { data } = JSON.parse(out.slice(out.lastIndexOf('{"success"')))
  assert.equal(data.status, 'pending_review')
  const [email] = await calls.listEmails({ id: data.serviceVerificationId, token: '', userId: '' })
  assert.equal(email!.to_address, 'ravi@metro.example')
})

test('the TypeScript program of the guide to verification works unchanged', async () => {
  const { folder, env } = await setUp()
  await writeFile(join(folder, 'verify.ts'), joinCodeBlocks('ts'))
  const { out, err } = await runCommand(process.execPath, [join(folder, 'verify.ts')], env)
  const { status, score } = JSON.parse(out)
  assert.ok(['completed', 'in_assessment'].includes(status))
  assert.equal(typeof score, 'number')
  assert.match(err, /House wiring/)
})
