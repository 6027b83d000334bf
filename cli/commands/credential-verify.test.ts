import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { signAsJwt, signCredential } from '../../server/credentials/proof/sign.ts'
import { setStatus } from '../../server/credentials/proof/status-list.ts'
import { ISSUED_AT, sampleCredential } from '../../test/support/credentials.ts'
import { httpsSkipReason } from '../../test/support/https-server.ts'
import { startIssuerServer } from '../../test/support/issuer-server.ts'

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url))

test('credential verify checks a credential of another issuer over did:web', { skip: httpsSkipReason }, async (t) => {
  const { issuer, server } = await startIssuerServer()
  t.after(() => server.close())
  const folder = mkdtempSync(join(tmpdir(), 'attestry-credential-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const env = {
    ...process.env,
    NODE_EXTRA_CA_CERTS: server.certificateFile,
    WEBHOOK_ALLOW: 'localhost',
    DATA_DIR: folder,
  }
  async function verify(content: string, options: { stdin?: boolean; json?: boolean } = {}) {
    const path = join(folder, 'credential')
    writeFileSync(path, content)
    const child = spawn(
      process.execPath,
      [MAIN, 'credential', 'verify', ...(options.json ? ['--json'] : []), options.stdin ? '-' : path],
      { env },
    )
    if (options.stdin) child.stdin.end(content)
    const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
    return { stdout, stderr, status }
  }
  const credential = JSON.stringify(await signCredential(sampleCredential(issuer), issuer.key, ISSUED_AT))

  const valid = await verify(credential)
  assert.equal(valid.status, 0, valid.stderr)
  assert.match(
    valid.stdout,
    /^VALID: .*\n\nCredential +Skill 1\nIssuer +localhost:\d+\nIssuer ID +did:web:localhost%3A/,
  )
  assert.match(valid.stdout, /\nIssuer name +Example organisation \(as the issuer calls itself\)\n/)
  assert.match(valid.stdout, /\n✓ status +The issuer has not revoked the credential\.\n$/)

  const jwt = await signAsJwt(sampleCredential(issuer), issuer.key)
  const changed = await verify(jwt.replace(/.{10}$/, 'AAAAAAAAAA'), { stdin: true, json: true })
  assert.equal(changed.status, 1)
  const { verdict, steps } = JSON.parse(changed.stdout)
  assert.equal(verdict, 'invalid')
  assert.deepEqual(
    steps.map(({ status }: { status: string }) => status),
    ['passed', 'passed', 'passed', 'passed', 'failed', 'skipped', 'skipped'],
  )

  setStatus(issuer.bits, 1)
  const revoked = await verify(credential)
  assert.equal(revoked.status, 1)
  assert.match(revoked.stdout, /^REVOKED: .*\n✗ status +The issuer has revoked the credential\.\n$/s)
})
