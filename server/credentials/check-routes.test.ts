import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../test/support/app.ts'
import { createIssuer, ISSUED_AT, sampleCredential } from '../../test/support/credentials.ts'
import { checkOverHttp } from '../../test/support/issued-credentials.ts'
import { signCredential } from './proof/sign.ts'

test('the public check connects to no private address, not even to one that webhooks may use', async (t) => {
  const app = await startApp(t, { config: { webhookAllow: ['localhost', '127.0.0.0/8', '10.0.0.0/8'] } })
  for (const [host, rule] of [
    ['localhost:8443', 'must not be localhost'],
    ['10.0.0.1', 'must not be a private address'],
  ] as const) {
    const issuer = await createIssuer(`https://${host}`)
    const { verdict, steps } = await checkOverHttp(
      app,
      await signCredential(sampleCredential(issuer), issuer.key, ISSUED_AT),
    )
    assert.equal(verdict, 'unknown')
    const message = steps.find(({ name }) => name === 'issuer')!.message
    assert.ok(message.includes(`has an address that is not allowed: it ${rule}`), message)
  }
})
