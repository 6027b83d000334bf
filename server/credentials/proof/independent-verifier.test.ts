import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeOneByte, ISSUED_AT, sampleCredential } from '../../../test/support/credentials.ts'
import { httpsSkipReason } from '../../../test/support/https-server.ts'
import { startIndependentVerifier } from '../../../test/support/independent-verifier.ts'
import { startIssuerServer } from '../../../test/support/issuer-server.ts'
import { openBadgesSchemaFile } from '../../../test/support/official-schemas.ts'
import { signOpenBadge } from './sign.ts'
import { setStatus } from './status-list.ts'

const CREDENTIALS = 50

test('an independent verifier accepts credentials over did:web, rejects changed ones and sees a revocation', {
  skip: httpsSkipReason,
}, async (t) => {
  const { issuer, server } = await startIssuerServer()
  t.after(() => server.close())
  const verifier = startIndependentVerifier(server.certificateFile, openBadgesSchemaFile('openBadge'))
  t.after(() => verifier.close())
  const sign = (number: number) => signOpenBadge(sampleCredential(issuer, number), issuer.key, ISSUED_AT)

  for (let number = 1; number <= CREDENTIALS; number++) {
    const credential = await sign(number)
    assert.deepEqual(await verifier.verify(credential), {
      accepted: true,
      hasValidSignature: true,
      isRevoked: false,
      schemaErrors: [],
      error: null,
    })
    const changed = changeOneByte(credential, number)
    const result = await verifier.verify(changed)
    assert.equal(result.hasValidSignature, false, JSON.stringify(changed))
  }

  const credential = await sign(7)
  setStatus(issuer.bits, 7)
  const revokedAt = performance.now()
  const result = await verifier.verify(credential)
  assert.equal(result.isRevoked, true)
  assert.equal(result.hasValidSignature, true)
  assert.ok(performance.now() - revokedAt < 1000)
})
