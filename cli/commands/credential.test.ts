import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { ADMIN_KEY } from '../../test/support/app.ts'
import { signIn } from '../../test/support/console.ts'
import { checkOverHttp, issueCredential, readPublic } from '../../test/support/issued-credentials.ts'
import { startVerification } from '../../test/support/verification.ts'

test('operators revoke credentials, erase people, and list, rotate and revoke keys', async (t) => {
  const calls = await startVerification(t)
  const { app, orgId } = calls
  const { config } = app.context
  const env = {
    ...process.env,
    NODE_TEST_CONTEXT: undefined,
    DATABASE_URL: config.databaseUrl,
    ADMIN_API_KEY: ADMIN_KEY,
    MASTER_KEY: config.masterKey!.toString('base64'),
  }
  const main = join(import.meta.dirname, '../main.ts')
  const cli = async (...args: string[]) =>
    (await promisify(execFile)(process.execPath, [main, 'credential', ...args, '--org', orgId], { env })).stdout
  const rejection = async (...args: string[]) =>
    cli(...args).then(
      () => assert.fail('the command succeeded'),
      (error: { stderr: string }) => error.stderr,
    )

  assert.match(await cli('keys', 'list'), /has not issued LIVE credentials yet/)
  const first = await issueCredential(calls)
  const second = await issueCredential(calls, { student: { externalStudentId: 'stu-2', email: 'b@example.com' } })
  const [credential, other] = [await readPublic(app, first.id), await readPublic(app, second.id)]
  assert.match(await cli('revoke', first.id, '--reason', 'issued_in_error'), /is revoked \(issued_in_error\)/)
  assert.equal((await checkOverHttp(app, credential.credential)).verdict, 'revoked')
  assert.equal((await checkOverHttp(app, other.credential)).verdict, 'valid')
  assert.match(await rejection('revoke', first.id, '--mode', 'test'), /not found/)

  // The test server is not reachable over HTTPS at PUBLIC_URL, so the command needs the database.
  const file = join(await mkdtemp(join(tmpdir(), 'attestry-credential-')), 'credential.json')
  t.after(() => rm(dirname(file), { recursive: true }))
  await writeFile(file, JSON.stringify(other.credential))
  const verified = await promisify(execFile)(process.execPath, [main, 'credential', 'verify', file], {
    env: { ...env, PUBLIC_URL: config.publicUrl },
  })
  assert.match(verified.stdout, /^VALID: /)

  assert.match(await cli('keys', 'rotate'), /\(key-2\) signs from now on/)
  const { keys } = JSON.parse(await cli('keys', 'list', '--json'))
  assert.deepEqual(
    keys.map(({ name, status, ...key }: any) => [name, status, 'secret_key' in key]),
    [
      ['key-2', 'active', false],
      ['key-1', 'retired', false],
    ],
  )
  assert.equal((await checkOverHttp(app, other.credential)).verdict, 'valid')
  assert.match(await cli('keys', 'revoke', keys[1].key_id), /and 1 credentials that it signed/)
  assert.equal((await checkOverHttp(app, other.credential)).verdict, 'invalid')

  assert.match(await rejection('erase'), /Pass --email or --phone/)
  assert.match(await cli('erase', '--email', 'asha@example.com'), /Revoked 0 credentials/)
  assert.equal(await readPublic(app, first.id), undefined, 'also the content of a revoked credential is deleted')
  const operator = await signIn(app)
  const entries = (await operator.get('/operator/audit?limit=20')).body.data.items
  assert.deepEqual(
    entries.map(({ action }: any) => action).filter((action: string) => action.startsWith('credential')),
    ['credential.erase', 'credential_key.revoke', 'credential_key.rotate', 'credential.revoke'],
  )
})
