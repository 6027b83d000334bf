import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { signIn, signInMember } from '../../../test/support/console.ts'
import {
  checkOverHttp,
  decide,
  getOffer,
  holderCalls,
  isRevoked,
  issueCredential,
  passAssessment,
  readPublic,
} from '../../../test/support/issued-credentials.ts'
import { aStudent, expectOk, sharedVerification, type VerificationCalls } from '../../../test/support/verification.ts'
import { issueDueCredentials } from '../engine.ts'
import { decideCredentials } from '../holders/consents.ts'
import { findSource } from '../sources.ts'
import { issuerOfDid } from './issuers.ts'

const setUp = sharedVerification()

const didDocument = async ({ app, orgId }: VerificationCalls) =>
  (await app.fetch(`/organisations/${orgId}/did.json`)).body

const keyNames = ({ verificationMethod }: any) => verificationMethod.map(({ id }: any) => id.split('#')[1])

async function signInOwner({ app, orgId }: VerificationCalls) {
  const owner = await signInMember(app, orgId, 'owner')
  const base = `/orgs/${orgId}/live`
  return {
    owner,
    listKeys: async () => (await owner.get(`${base}/credential-keys`)).body.data,
    rotate: () => owner.post(`${base}/credential-keys/rotate`),
    revokeKey: (id: string) => owner.post(`${base}/credential-keys/${id}/revoke`),
  }
}

test('the first credential creates a key, whose document everybody can read', async () => {
  const calls = await setUp()
  assert.equal((await calls.app.fetch(`/organisations/${calls.orgId}/did.json`)).status, 404)
  const { id } = await issueCredential(calls)
  const { credential } = await readPublic(calls.app, id)
  const { headers, body } = await calls.app.fetch(`/organisations/${calls.orgId}/did.json`)
  assert.equal(headers.get('access-control-allow-origin'), '*')
  assert.equal(body.id, credential.issuer.id)
  assert.deepEqual(keyNames(body), ['key-1'])
  assert.deepEqual(body.assertionMethod, [`${body.id}#key-1`])
  assert.equal(credential.proof[0].verificationMethod, `${body.id}#key-1`)
  const row = await calls.app.context.db.queries
    .selectFrom('credential_keys')
    .select(['secret_key', 'public_key'])
    .where('org_id', '=', calls.orgId)
    .executeTakeFirstOrThrow()
  assert.equal(row.secret_key!.toString('latin1').includes('z3u2'), false, 'the private key is sealed')
})

test('credentials that are the first ones at the same time share one key and one list entry each', async () => {
  const calls = await setUp()
  const sessions = []
  for (const name of ['a', 'b', 'c'])
    sessions.push(await passAssessment(calls, { student: { externalStudentId: name, email: `${name}@example.com` } }))
  const responses = await Promise.all(sessions.map((session) => expectOk(decide(calls, session, { wanted: true }))))
  assert.deepEqual(keyNames(await didDocument(calls)), ['key-1'])
  const entries = await Promise.all(
    responses.map(async ({ body }) => {
      const { credential } = await readPublic(calls.app, body.data.credentials[0].id)
      assert.equal((await checkOverHttp(calls.app, credential)).verdict, 'valid')
      return credential.credentialStatus.id
    }),
  )
  assert.equal(new Set(entries).size, 3)
})

test('the deployment has a document of its own', async () => {
  const { app } = await setUp()
  const { status, body } = await app.fetch('/.well-known/did.json')
  assert.equal(status, 200)
  assert.equal(body.id, `did:web:127.0.0.1%3A${new URL(app.url).port}`)
  assert.deepEqual(keyNames(body), ['key-1'])
  assert.deepEqual((await app.fetch('/.well-known/did.json')).body, body)
})

test('after a rotation the new key signs, and credentials of the old key stay valid', async () => {
  const calls = await setUp()
  const { listKeys, rotate } = await signInOwner(calls)
  const old = await readPublic(calls.app, (await issueCredential(calls)).id)
  await isRevoked(calls.app, old.credential)
  assert.equal((await rotate()).status, 200)
  assert.deepEqual(keyNames(await didDocument(calls)), ['key-1', 'key-2'])
  const student = { externalStudentId: 'stu-2', email: 'b@example.com' }
  const next = await readPublic(calls.app, (await issueCredential(calls, { student })).id)
  assert.match(next.credential.proof[0].verificationMethod, /#key-2$/)
  for (const { credential, jwt } of [old, next]) {
    assert.equal((await checkOverHttp(calls.app, credential)).verdict, 'valid')
    assert.equal((await checkOverHttp(calls.app, jwt)).verdict, 'valid')
  }
  const { body: list } = await calls.app.fetch(new URL(old.credential.credentialStatus.statusListCredential).pathname)
  assert.match(list.proof.verificationMethod, /#key-2$/, 'the status list is signed with the new key')
  assert.deepEqual(
    (await listKeys()).keys.map(({ name, status }: any) => [name, status]),
    [
      ['key-2', 'active'],
      ['key-1', 'retired'],
    ],
  )
})

test('what a revoked key signed is invalid, and wanted credentials are issued again', async () => {
  const calls = await setUp()
  const { listKeys, revokeKey } = await signInOwner(calls)
  const kept = await issueCredential(calls)
  const withdrawn = await issueCredential(calls, { student: { externalStudentId: 'stu-2', email: 'b@example.com' } })
  const withdrawal = { credentials: [{ credential_id: withdrawn.id, revoke: true }] }
  assert.equal((await holderCalls(calls.app, withdrawn.holderToken).change(withdrawal)).status, 200)
  const holder = holderCalls(calls.app, kept.holderToken)
  await holder.change({ show_name: true })
  const { credential, id: signedId } = await readPublic(calls.app, kept.id)
  await holder.change({ credentials: [{ credential_id: signedId, hidden: true }] })
  const [{ key_id }] = (await listKeys()).keys
  assert.equal((await revokeKey(key_id)).status, 200)
  assert.equal((await revokeKey(key_id)).status, 409)
  assert.deepEqual(keyNames(await didDocument(calls)), ['key-2'])
  const { verdict, steps } = await checkOverHttp(calls.app, credential)
  assert.equal(verdict, 'invalid')
  assert.match(steps.find(({ status }) => status === 'failed')!.message, /key/i)

  await issueDueCredentials(calls.app.context)
  const offer = await getOffer(calls, kept.session)
  assert.deepEqual(
    offer.credentials.map(({ status }: any) => status),
    ['revoked', 'active'],
  )
  const reissued = await readPublic(calls.app, offer.credentials[1].id)
  assert.match(reissued.credential.proof[0].verificationMethod, /#key-2$/)
  for (const id of [kept.id, signedId])
    assert.equal((await readPublic(calls.app, id)).id, reissued.id, 'old links lead to the new one')
  const { credentials } = (await holder.view()).body.data
  assert.equal(credentials.find(({ credential_id }: any) => credential_id === reissued.id).hidden, true)
  assert.equal((await checkOverHttp(calls.app, reissued.credential)).verdict, 'valid')
  assert.deepEqual(
    (await getOffer(calls, withdrawn.session)).credentials.map(({ status }: any) => status),
    ['revoked'],
    'a credential that the person revoked is not issued again',
  )
  const row = await calls.app.context.db.queries
    .selectFrom('credential_keys')
    .select('secret_key')
    .where('key_id', '=', key_id)
    .executeTakeFirstOrThrow()
  assert.equal(row.secret_key, null)
})

test('a key that is revoked while it signs leaves no active credential', async () => {
  const calls = await setUp()
  const { context } = calls.app
  await issueCredential(calls)
  const student = { externalStudentId: 'stu-2', email: 'b@example.com' }
  const session = await passAssessment(calls, { student })
  const { listKeys, revokeKey } = await signInOwner(calls)
  const [{ key_id }] = (await listKeys()).keys
  let revocation: Promise<{ status: number }> | undefined
  await context.db.transaction(async (tx) => {
    const source = (await findSource(tx, 'session', session.id, calls.clock))!
    await decideCredentials(tx, context, source, { wanted: true, showName: false, language: 'en' })
    revocation = revokeKey(key_id)
    const isFinished = await Promise.race([revocation.then(() => true), setTimeout(300, false)])
    assert.equal(isFinished, false, 'the revocation waits for the issue')
  })
  assert.equal((await revocation!).status, 200)
  const rows = await context.db.queries
    .selectFrom('credentials')
    .select('revocation_reason')
    .where('key_id', '=', key_id)
    .execute()
  assert.deepEqual(
    rows.map(({ revocation_reason }) => revocation_reason),
    ['key_revoked', 'key_revoked'],
  )
})

test('only owners change keys, and only those of their organisation', async () => {
  const calls = await setUp()
  await issueCredential(calls)
  const { listKeys } = await signInOwner(calls)
  const [{ key_id }] = (await listKeys()).keys
  const viewer = await signInMember(calls.app, calls.orgId, 'viewer')
  assert.equal((await viewer.post(`/orgs/${calls.orgId}/live/credential-keys/rotate`)).status, 403)
  assert.equal((await viewer.get(`/orgs/${calls.orgId}/live/credential-keys`)).status, 200)
  const other = await setUp()
  const { revokeKey } = await signInOwner(other)
  assert.equal((await revokeKey(key_id)).status, 404)
  const operator = await signIn(calls.app)
  assert.equal((await operator.get(`/orgs/${calls.orgId}/live/credential-keys`)).body.data.keys.length, 1)
})

test('the policy decides whether credentials are issued, and for how long they are valid', async () => {
  const calls = await setUp()
  const { owner } = await signInOwner(calls)
  const path = `/orgs/${calls.orgId}/credential-policy`
  assert.deepEqual((await owner.get(path)).body.data, { credentials_enabled: true, credential_validity_months: 24 })
  assert.equal((await owner.put(path, { credential_validity_months: 0 })).status, 400)
  assert.equal((await owner.put(path, { credential_validity_months: 6 })).status, 200)
  const { credential } = await readPublic(calls.app, (await issueCredential(calls)).id)
  const days = (Date.parse(credential.validUntil) - Date.parse(credential.validFrom)) / 86_400_000
  assert.ok(days > 180 && days < 185, String(days))
})

test('a status list is signed only when it has changed, and cached copies are validated', async () => {
  const calls = await setUp()
  const { id, holderToken } = await issueCredential(calls)
  const { credential } = await readPublic(calls.app, id)
  const { pathname } = new URL(credential.credentialStatus.statusListCredential)
  const first = await calls.app.fetch(pathname)
  assert.equal(first.headers.get('cache-control'), 'no-cache')
  assert.equal(first.headers.get('access-control-allow-origin'), '*')
  const etag = first.headers.get('etag')!
  const repeated = await calls.app.fetch(pathname)
  assert.deepEqual(repeated.body.proof, first.body.proof)
  assert.equal((await calls.app.fetch(pathname, { headers: { 'if-none-match': etag } })).status, 304)

  await holderCalls(calls.app, holderToken).change({ credentials: [{ credential_id: id, revoke: true }] })
  const changed = await calls.app.fetch(pathname, { headers: { 'if-none-match': etag } })
  assert.equal(changed.status, 200)
  assert.notEqual(changed.body.credentialSubject.encodedList, first.body.credentialSubject.encodedList)
  const jwt = await fetch(`${calls.app.url}${pathname}.jwt`)
  assert.equal(jwt.headers.get('content-type'), 'application/vc+jwt')
  const payload = JSON.parse(Buffer.from((await jwt.text()).split('.')[1]!, 'base64url').toString())
  assert.equal(payload.credentialSubject.encodedList, changed.body.credentialSubject.encodedList)
})

test('the signed copy of a status list can be lost; a credential without a list cannot be checked', async () => {
  const calls = await setUp()
  const { credential } = await readPublic(calls.app, (await issueCredential(calls)).id)
  for (const id of ['SL_00000000000000000000000000', 'nonsense'])
    assert.equal((await calls.app.fetch(`/credentials/status/${id}`)).status, 404)
  const listId = credential.credentialStatus.statusListCredential.split('/').at(-1)
  const { queries } = calls.app.context.db
  await isRevoked(calls.app, credential)
  await queries
    .updateTable('credential_status_lists')
    .set({ signed_version: null, signed_credential: null, signed_jwt: null })
    .where('list_id', '=', listId)
    .execute()
  assert.equal((await checkOverHttp(calls.app, credential)).verdict, 'valid', 'it is signed again')

  const list = await queries
    .selectFrom('credential_status_lists')
    .selectAll()
    .where('list_id', '=', listId)
    .executeTakeFirstOrThrow()
  const otherId = listId.replace(/.$/, '_')
  await queries
    .insertInto('credential_status_lists')
    .values({ ...list, list_id: otherId })
    .execute()
  await queries.updateTable('credentials').set({ list_id: otherId }).where('list_id', '=', listId).execute()
  await queries.deleteFrom('credential_status_lists').where('list_id', '=', listId).execute()
  const { verdict, steps } = await checkOverHttp(calls.app, credential)
  assert.equal(verdict, 'unknown')
  assert.match(steps.at(-1)!.message, /status list/)
})

test('a changed credential is invalid', async () => {
  const calls = await setUp()
  const { credential, jwt } = await readPublic(calls.app, (await issueCredential(calls)).id)
  assert.equal((await checkOverHttp(calls.app, { ...credential, name: 'Brain surgery' })).verdict, 'invalid')
  assert.equal(
    (await checkOverHttp(calls.app, { credential: { ...credential, name: 'Brain surgery' } })).verdict,
    'invalid',
  )
  const [header, payload, signature] = jwt.split('.')
  const forged = Buffer.from(payload, 'base64url').toString().replace('Bricklaying', 'Brain surgery')
  const forgedJwt = [header, Buffer.from(forged).toString('base64url'), signature].join('.')
  assert.equal((await checkOverHttp(calls.app, forgedJwt)).verdict, 'invalid')
  assert.equal((await calls.app.fetch('/credentials/verify', { method: 'POST', body: '' })).status, 400)
})

test('an expired credential is reported as expired', async () => {
  const calls = await setUp()
  const { id } = await issueCredential(calls)
  const { credential } = await readPublic(calls.app, id)
  await calls.app.context.db.queries
    .updateTable('credentials')
    .set({ valid_until: new Date(calls.clock.now()) })
    .where('credential_id', '=', id)
    .execute()
  const key = await calls.app.fixtures.createPartnerKey(calls.orgId)
  const statusOf = async (status: string) =>
    (await calls.app.as(key).get(`/credentials?status=${status}`)).body.data.items.map(
      (item: any) => item.credential_id,
    )
  assert.deepEqual([await statusOf('expired'), await statusOf('active')], [[id], []])
  assert.equal((await calls.app.as(key).get(`/credentials/${id}`)).body.data.status, 'expired')
  assert.equal((await checkOverHttp(calls.app, credential)).verdict, 'valid', 'the signed time counts for verifiers')
})

test('anybody can ask whether a credential belongs to an address, a limited number of times', async () => {
  const calls = await setUp()
  const { id, holderToken } = await issueCredential(calls)
  const ask = (body: object) =>
    calls.app.fetch(`/credentials/${id}/holder`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  assert.deepEqual((await ask({ email: aStudent().email.toUpperCase() })).body.data, { matches: true })
  assert.deepEqual((await ask({ email: 'other@example.com' })).body.data, { matches: false })
  assert.deepEqual((await ask({ phone: '+919876543210' })).body.data, { matches: false })
  assert.equal((await ask({})).status, 400)
  assert.equal((await ask({ phone: '12345678' })).status, 400)
  const statuses = await Promise.all(
    Array.from({ length: 10 }, async () => (await ask({ phone: '+919876543210' })).status),
  )
  assert.ok(statuses.includes(429))
  calls.clock.advance(86_400_000)
  await holderCalls(calls.app, holderToken).change({ credentials: [{ credential_id: id, revoke: true }] })
  assert.equal((await ask({ email: aStudent().email })).status, 404, 'the person has withdrawn the credential')
})

test('only DIDs of this server are found in the database', () => {
  const config = { publicUrl: 'https://verify.example.com' }
  const orgId = 'ORG_01KKDSEW48YA4F1CZ1B0HMJKXN'
  const did = `did:web:verify.example.com:organisations:${orgId}`
  assert.deepEqual(issuerOfDid(config, did), { orgId, mode: 'live' })
  assert.deepEqual(issuerOfDid(config, `${did}:test`), { orgId, mode: 'test' })
  assert.equal(issuerOfDid(config, 'did:web:verify.example.com'), 'deployment')
  assert.equal(issuerOfDid(config, 'did:web:verify.example.com:test'), 'deployment_test')
  for (const other of [
    `${did}:live`,
    `${did}:test:x`,
    'did:web:verify.example.com:organisations:ORG_1',
    'did:web:evil.example',
  ])
    assert.equal(issuerOfDid(config, other), undefined)
})
