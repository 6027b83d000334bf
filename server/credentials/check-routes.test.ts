import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../test/support/app.ts'
import { createIssuer, ISSUED_AT, sampleCredential } from '../../test/support/credentials.ts'
import { checkOverHttp, issueCredential, readPublic } from '../../test/support/issued-credentials.ts'
import { startVerification, verificationCalls } from '../../test/support/verification.ts'
import { generateKeyPair } from './proof/keys.ts'
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

test('addresses in a credential that lead to private networks are not connected to, however they are written', async (t) => {
  const app = await startApp(t)
  const issuer = await createIssuer('https://issuer.example')
  const credential = await signCredential(sampleCredential(issuer), issuer.key, ISSUED_AT)
  const stepOf = async (document: object, step: string) => {
    const { verdict, steps } = await checkOverHttp(app, document)
    assert.notEqual(verdict, 'valid')
    app.clock.advance(61_000)
    return steps.find(({ name }) => name === step)!.message
  }
  for (const [id, message] of [
    ['did:web:127.1', /not allowed: it must not be a loopback address/],
    ['did:web:2130706433', /not allowed: it must not be a loopback address/],
    ['did:web:0x7f000001', /not allowed: it must not be a loopback address/],
    ['did:web:169.254.169.254', /not allowed: it must not be/],
    ['did:web:metadata.google.internal', /not allowed: it must not be a metadata service/],
    ['did:web:issuer.example%3A22', /not allowed: it must not use port 22/],
    ['did:web:user%40issuer.example', /is not a valid did:web identifier/],
    ['did:web:issuer.example:..:..', /is not a valid did:web identifier/],
    ['https://[::1]/issuer', /not allowed: it must not be a loopback address/],
    ['https://[::ffff:10.0.0.1]/issuer', /not allowed: it must not be a private address/],
    ['https://user:secret@issuer.example/', /not allowed: it must not contain a user name or password/],
    ['http://issuer.example/', /is not supported/],
    ['file:///etc/passwd', /is not supported/],
  ] as const)
    assert.match(
      await stepOf({ ...credential, issuer: { ...(credential.issuer as object), id } }, 'issuer'),
      message,
      id,
    )

  const keyPair = await generateKeyPair()
  const did = `did:key:${keyPair.publicKeyMultibase}`
  const key = { did, id: `${did}#${keyPair.publicKeyMultibase}`, ...keyPair }
  for (const statusListUrl of ['https://10.0.0.1/list', 'https://localhost:8443/list', 'https://[::1]/list']) {
    const signed = await signCredential(sampleCredential({ key, statusListUrl }), key, ISSUED_AT)
    assert.match(await stepOf(signed, 'status'), /not allowed: it must not be/, statusListUrl)
  }
})

test('a credential of one organisation is not accepted as that of another, nor with a key that claims to be the issuer’s', async (t) => {
  const calls = await startVerification(t)
  const { app } = calls
  const other = await app.fixtures.createOrg()
  const otherCalls = verificationCalls(app, other.orgId, await app.fixtures.createSessionKey(other.orgId))
  const { credential } = await readPublic(app, (await issueCredential(calls)).id)
  const { credential: otherCredential } = await readPublic(app, (await issueCredential(otherCalls)).id)
  assert.equal((await checkOverHttp(app, credential)).verdict, 'valid')

  const failedStep = async (document: object) => {
    const { verdict, is_local, steps } = await checkOverHttp(app, document)
    assert.deepEqual([verdict, is_local], ['invalid', false])
    return steps.find(({ status }) => status === 'failed')!
  }
  const renamed = await failedStep({ ...credential, issuer: otherCredential.issuer })
  assert.equal(renamed.name, 'key')
  assert.match(renamed.message, /names did:web:.+ as its issuer, but was signed with a key of did:web:/)
  assert.equal((await failedStep({ ...credential, proof: otherCredential.proof })).name, 'key')
  const { proof: _, ...unsigned } = otherCredential
  const did = credential.issuer.id
  const forgedKey = { did, id: credential.proof[0].verificationMethod, ...(await generateKeyPair()) }
  const forged = await signCredential({ ...unsigned, issuer: credential.issuer }, forgedKey, new Date(app.clock.now()))
  assert.equal((await failedStep(forged)).name, 'signature')
})
