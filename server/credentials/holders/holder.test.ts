import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { candidatePage, inviteCandidate, keyIndex } from '../../../test/support/candidate.ts'
import { signInMember } from '../../../test/support/console.ts'
import {
  checkOverHttp,
  decide,
  expectCandidateOk,
  getOffer,
  holderCalls,
  isRevoked,
  issueCredential,
  passAssessment,
  readPublic,
} from '../../../test/support/issued-credentials.ts'
import { learnerRecordErrors } from '../../../test/support/open-badge-schema.ts'
import { createPartner } from '../../../test/support/partners.ts'
import { BRICKLAYING, expectOk, outcomeOf, sharedVerification, WIRING } from '../../../test/support/verification.ts'
import { findProfile } from '../credentials.ts'
import { issueDueCredentials } from '../engine.ts'
import { revokeCredentialsOfHolder } from '../revocation.ts'
import { findSource } from '../sources.ts'
import { decideCredentials } from './consents.ts'

const setUp = sharedVerification()

const slugOf = (url: string) => url.split('/').at(-1)!

test('the secret link lists the credentials of the person in all sessions, and nobody else’s', async () => {
  const calls = await setUp()
  const first = await issueCredential(calls)
  // The same mailbox in another spelling.
  const second = await issueCredential(calls, {
    student: { email: 'Asha+jobs@example.com' },
    skills: [WIRING],
  })
  const other = await issueCredential(calls, { student: { externalStudentId: 'stu-3', email: 'b@example.com' } })
  const { status, body, headers } = await holderCalls(calls.app, first.holderToken).view()
  assert.equal(status, 200)
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.deepEqual(
    new Set(body.data.credentials.map(({ credential_id }: any) => credential_id)),
    new Set([first.id, second.id]),
  )
  assert.deepEqual([body.data.organisation, body.data.mode, body.data.profile_public], ['Acme Staffing', 'live', false])
  for (const token of ['wrong', first.holderToken.slice(0, -1)])
    assert.equal((await holderCalls(calls.app, token).view()).status, 401)
  assert.equal((await calls.app.fetch('/api/v1/holder')).status, 401)
  const foreign = { credentials: [{ credential_id: other.id, revoke: true }] }
  assert.equal((await holderCalls(calls.app, first.holderToken).change(foreign)).status, 404)
  assert.equal(await isRevoked(calls.app, (await readPublic(calls.app, other.id)).credential), false)
})

test('an address alone does not give access to the credentials of another person; an erasure covers both', async () => {
  const calls = await setUp()
  const { context } = calls.app
  const first = await issueCredential(calls)
  await holderCalls(calls.app, first.holderToken).change({ profile_public: true })
  const second = await issueCredential(calls, { student: { externalStudentId: 'stu-2' }, skills: [WIRING] })
  assert.equal((await getOffer(calls, second.session)).profileUrl, null)
  const holder = holderCalls(calls.app, second.holderToken)
  assert.deepEqual(
    (await holder.view()).body.data.credentials.map(({ credential_id }: any) => credential_id),
    [second.id],
  )
  assert.equal((await holder.change({ credentials: [{ credential_id: first.id, revoke: true }] })).status, 404)
  const contact = { kind: 'email', value: 'asha@example.com' } as const
  const erased = await context.db.transaction((tx) => revokeCredentialsOfHolder(tx, context, calls.scope, contact))
  assert.deepEqual(new Set(erased.map(({ credential_id }) => credential_id)), new Set([first.id, second.id]))
})

test('a profile is off at first, lists what the person does not hide, and its link can be changed', async () => {
  const calls = await setUp()
  const { queries } = calls.app.context.db
  const { id, holderToken } = await issueCredential(calls, { showName: true })
  const hidden = await issueCredential(calls, { skills: [WIRING] })
  const holder = holderCalls(calls.app, holderToken)
  const { slug } = await queries
    .selectFrom('credential_holders')
    .select('profile_slug as slug')
    .where('org_id', '=', calls.orgId)
    .executeTakeFirstOrThrow()
  assert.equal(await findProfile(queries, slug, calls.clock.now()), undefined)

  const shown = await holder.change({ profile_public: true, credentials: [{ credential_id: hidden.id, hidden: true }] })
  assert.equal(slugOf(shown.body.data.profile_url), slug)
  const profile = (await findProfile(queries, slug, calls.clock.now()))!
  assert.equal(profile.name, 'Asha Rao')
  assert.deepEqual(
    profile.credentials.map((credential) => credential.id),
    [id],
  )

  const moved = await holder.change({ new_profile_link: true })
  assert.notEqual(slugOf(moved.body.data.profile_url), slug)
  assert.equal(await findProfile(queries, slug, calls.clock.now()), undefined)
  assert.ok(await findProfile(queries, slugOf(moved.body.data.profile_url), calls.clock.now()))
  assert.equal((await holder.change({ profile_public: false })).body.data.profile_url, null)
  assert.equal(await findProfile(queries, slugOf(moved.body.data.profile_url), calls.clock.now()), undefined)
})

test('showing or removing the name issues the credential again; old links lead to the new one', async () => {
  const calls = await setUp()
  const { id, session, holderToken } = await issueCredential(calls)
  const holder = holderCalls(calls.app, holderToken)
  const { credential: nameless } = await readPublic(calls.app, id)
  const { data } = (await holder.change({ show_name: true })).body
  assert.equal(data.show_name, true)
  assert.equal(data.credentials.length, 1)
  const named = await readPublic(calls.app, id)
  assert.deepEqual([named.id, named.holderName], [data.credentials[0].credential_id, 'Asha Rao'])
  assert.equal(named.credential.validUntil, nameless.validUntil)
  assert.equal((await checkOverHttp(calls.app, named.credential)).verdict, 'valid')
  assert.equal((await checkOverHttp(calls.app, nameless)).verdict, 'revoked')

  await holder.change({ show_name: false })
  const removed = await readPublic(calls.app, id)
  assert.equal(removed.holderName, null)
  assert.equal((await checkOverHttp(calls.app, named.credential)).verdict, 'revoked')
  const rows = await calls.app.context.db.queries
    .selectFrom('credentials')
    .select(['credential', 'jwt', 'facts'])
    .where('org_id', '=', calls.orgId)
    .execute()
  assert.equal(rows.length, 3)
  assert.doesNotMatch(JSON.stringify(rows), /Asha Rao/, 'the name is not stored any more')
  assert.equal((await getOffer(calls, session)).credentials.length, 1)
  const events = (await calls.listEvents()).filter(({ type }) => type.startsWith('credential.'))
  assert.deepEqual(
    events.map(({ type, data: { revocation_reason } }) => [type, revocation_reason]),
    [
      ['credential.issued', null],
      ['credential.revoked', 'replaced'],
      ['credential.issued', null],
      ['credential.revoked', 'replaced'],
      ['credential.issued', null],
    ],
  )
  assert.equal(events[1]!.data.replaced_by, events[2]!.data.credential_id)
})

test('credentials are issued again ten times a day at most; removing the name and withdrawing always work', async () => {
  const calls = await setUp()
  const { id, session, holderToken } = await issueCredential(calls)
  const holder = holderCalls(calls.app, holderToken)
  for (let change = 0; change < 9; change++) {
    assert.equal((await holder.change({ show_name: change % 2 === 0 })).status, 200)
    calls.clock.advance(60_000)
  }
  await expectOk(decide(calls, session, { wanted: false }))
  await expectOk(decide(calls, session, { wanted: true, showName: true }))
  assert.equal((await holder.change({ show_name: false })).status, 200)
  const rejected = await holder.change({ show_name: true })
  assert.equal(rejected.status, 429)
  assert.match(rejected.body.error.message, /10 times in 24 hours\. Try again in .*\./)
  const waitSeconds = 86_400 - 8 * 60
  assert.ok(Number(rejected.headers.get('retry-after')) <= waitSeconds, String(rejected.headers.get('retry-after')))
  calls.clock.advance(1000) // resets the rate limit of the token
  await expectOk(decide(calls, session, { wanted: false }))
  assert.equal(outcomeOf(await decide(calls, session, { wanted: true })), '429 RATE_LIMITED')
  calls.clock.advance(86_400_000)
  const { context } = calls.app
  const source = (await findSource(context.db.queries, 'session', session.id, calls.clock))!
  const input = { wanted: true, showName: false, language: 'en' }
  const { credentials } = await context.db.transaction((tx) => decideCredentials(tx, context, source, input))
  assert.equal(credentials.at(-1)!.status, 'active', 'a day later it works again')
  assert.equal(await readPublic(calls.app, id), undefined, 'a withdrawn link does not lead to a later credential')
})

test('the person exports a learner record, signed by the deployment, with the credentials that are not hidden', async () => {
  const calls = await setUp()
  const { id, holderToken } = await issueCredential(calls)
  const hidden = await issueCredential(calls, { skills: [WIRING] })
  const holder = holderCalls(calls.app, holderToken)
  await holder.change({ credentials: [{ credential_id: hidden.id, hidden: true }] })
  const exportRecord = () =>
    fetch(`${calls.app.url}/api/v1/holder/clr`, { headers: { authorization: `Bearer ${holderToken}` } })
  const response = await exportRecord()
  assert.equal(response.headers.get('content-type'), 'application/vc+jwt')
  const jwt = await response.text()
  assert.equal((await checkOverHttp(calls.app, jwt)).verdict, 'valid')
  const record = JSON.parse(Buffer.from(jwt.split('.')[1]!, 'base64url').toString())
  const { iss: _, jti: __, nbf: ___, iat: ____, exp: _____, ...content } = record
  assert.deepEqual(learnerRecordErrors(content), [])
  const { verifiableCredential: _credentials, ...emptySubject } = content.credentialSubject
  assert.deepEqual(learnerRecordErrors({ ...content, credentialSubject: emptySubject }), [
    "/credentialSubject must have required property 'verifiableCredential'",
  ])
  assert.deepEqual([record.type[1], record.partial], ['ClrCredential', true])
  assert.equal(record.issuer.id, (await calls.app.fetch('/.well-known/did.json')).body.id)
  const { credential } = await readPublic(calls.app, id)
  assert.deepEqual(record.credentialSubject.verifiableCredential, [credential])
  await holder.change({ credentials: [{ credential_id: id, revoke: true }] })
  assert.equal((await exportRecord()).status, 404)
})

test('the person revokes a credential; consenting again does not bring it back', async () => {
  const calls = await setUp()
  const { id, session, holderToken } = await issueCredential(calls)
  const { credential } = await readPublic(calls.app, id)
  const { body } = await holderCalls(calls.app, holderToken).change({
    credentials: [{ credential_id: id, revoke: true }],
  })
  assert.deepEqual(
    body.data.credentials.map(({ status, revocation_reason }: any) => [status, revocation_reason]),
    [['revoked', 'holder_request']],
  )
  assert.equal(await isRevoked(calls.app, credential), true)
  assert.equal(await readPublic(calls.app, id), undefined)
  await expectOk(decide(calls, session, { wanted: true }))
  assert.equal((await getOffer(calls, session)).credentials.length, 1)
})

test('a person who removes the name or withdraws a credential removes the page of a revoked one, too', async () => {
  const calls = await setUp()
  const partner = calls.app.as(await calls.app.fixtures.createPartnerKey(calls.orgId))
  const withdrawals: ((issued: Awaited<ReturnType<typeof issueCredential>>) => Promise<{ status: number }>)[] = [
    ({ holderToken }) => holderCalls(calls.app, holderToken).change({ show_name: false }),
    ({ holderToken, id }) =>
      holderCalls(calls.app, holderToken).change({ credentials: [{ credential_id: id, revoke: true }] }),
    ({ session }) => decide(calls, session, { wanted: false }),
    ({ session }) => decide(calls, session, { wanted: true, showName: false }),
  ]
  for (const [index, withdraw] of withdrawals.entries()) {
    const student = { externalStudentId: `stu-${index}`, email: `s${index}@example.com` }
    const issued = await issueCredential(calls, { showName: true, student })
    const { id, holderToken } = issued
    const { body } = await partner.post(`/credentials/${id}/revoke`, { reason: 'issued_in_error' })
    assert.equal(body.data.status, 'revoked')
    assert.equal((await readPublic(calls.app, id)).holderName, 'Asha Rao')
    assert.equal((await holderCalls(calls.app, holderToken).view()).body.data.show_name, true)
    assert.equal((await withdraw(issued)).status, 200)
    assert.equal(await readPublic(calls.app, id), undefined)
    const { data } = (await holderCalls(calls.app, holderToken).view()).body
    assert.deepEqual([data.show_name, data.credentials[0].revocation_reason], [false, 'issued_in_error'])
  }
})

test('each consent gives a new link; older ones work until they are revoked', async () => {
  const calls = await setUp()
  const { session, holderToken: firstToken } = await issueCredential(calls)
  const { data } = (await expectOk(decide(calls, session, { wanted: true }))).body
  const secondToken = data.manageUrl.split('#token=')[1]
  assert.notEqual(secondToken, firstToken)
  assert.equal((await holderCalls(calls.app, firstToken).view()).status, 200)
  for (let count = 3; count <= 21; count++) {
    assert.equal((await holderCalls(calls.app, firstToken).view()).status, 200, `${count - 1} links`)
    calls.clock.advance(1000)
    await expectOk(decide(calls, session, { wanted: true }))
  }
  assert.equal((await holderCalls(calls.app, firstToken).view()).status, 401, 'the oldest of 21 links')
  assert.equal((await holderCalls(calls.app, secondToken).view()).status, 200)
  await holderCalls(calls.app, secondToken).change({ revoke_other_links: true })
  assert.equal((await holderCalls(calls.app, firstToken).view()).status, 401)
  assert.equal((await holderCalls(calls.app, secondToken).view()).status, 200)
})

test('the credentials of an erased person are revoked, and nothing about the person remains in them', async () => {
  const calls = await setUp()
  const { context } = calls.app
  const { id, holderToken } = await issueCredential(calls, { showName: true })
  const { credential } = await readPublic(calls.app, id)
  const contact = { kind: 'email', value: 'ASHA@example.com' } as const
  const erase = () => context.db.transaction((tx) => revokeCredentialsOfHolder(tx, context, calls.scope, contact))
  assert.equal((await erase()).length, 1)
  assert.equal((await checkOverHttp(calls.app, credential)).verdict, 'revoked')
  assert.equal(await readPublic(calls.app, id), undefined)
  assert.equal((await holderCalls(calls.app, holderToken).view()).status, 401)
  const rows = await context.db.queries.selectFrom('credentials').selectAll().where('credential_id', '=', id).execute()
  assert.doesNotMatch(JSON.stringify(rows), /Asha|stu-1|sha256/)
  await assert.rejects(erase, /No credentials were issued to this email address/)
})

test('a student who is erased by the partner has no valid credential afterwards', async () => {
  const calls = await setUp()
  const email = 'erased-student@example.com'
  const { id } = await issueCredential(calls, { student: { externalStudentId: 'stu-erased', email } })
  const { credential } = await readPublic(calls.app, id)
  const partner = await createPartner(calls.app, calls.scope.mode, calls.scope.orgId)
  const people = await partner.get(`/people?email=${encodeURIComponent(email)}`)
  const { person_id } = people.body.data.items[0]
  const exported = await partner.get(`/people/${person_id}/export`)
  assert.match(JSON.stringify(exported.body), new RegExp(id))
  const erased = await partner.post(`/people/${person_id}/erase`, {
    basis: 'GDPR Article 17',
    requested_by: 'data subject',
  })
  assert.equal(erased.status, 200, JSON.stringify(erased.body))
  assert.equal((await checkOverHttp(calls.app, credential)).verdict, 'revoked')
  assert.equal(await readPublic(calls.app, id), undefined)
})

test('a person who consents while being erased has no credential afterwards', async () => {
  const calls = await setUp()
  const { context } = calls.app
  await issueCredential(calls)
  const session = await passAssessment(calls, { skills: [WIRING] })
  const contact = { kind: 'email', value: 'asha@example.com' } as const
  let erasure: Promise<unknown[]> | undefined
  await context.db.transaction(async (tx) => {
    const source = (await findSource(tx, 'session', session.id, calls.clock))!
    await decideCredentials(tx, context, source, { wanted: true, showName: true, language: 'en' })
    erasure = context.db.transaction((other) => revokeCredentialsOfHolder(other, context, calls.scope, contact))
    const isFinished = await Promise.race([erasure.then(() => true), setTimeout(300, false)])
    assert.equal(isFinished, false, 'the erasure waits for the consent')
  })
  assert.equal((await erasure!).length, 2)
  const rows = await context.db.queries
    .selectFrom('credentials')
    .select(['credential', 'revocation_reason'])
    .where('org_id', '=', calls.orgId)
    .execute()
  assert.deepEqual(
    rows,
    [1, 2].map(() => ({ credential: null, revocation_reason: 'person_erased' })),
  )
})

test('partners list, filter and revoke the credentials of their organisation and mode', async () => {
  const calls = await setUp()
  const { app, orgId } = calls
  const partner = app.as(await app.fixtures.createPartnerKey(orgId))
  const { id, session } = await issueCredential(calls)
  app.clock.advance(60_000)
  const second = await issueCredential(calls, {
    student: { externalStudentId: 'stu-2', email: 'b@example.com' },
    skills: [WIRING],
  })
  const idsOf = async (query: string) =>
    (await partner.get(`/credentials?${query}`)).body.data.items.map((item: any) => item.credential_id)
  assert.deepEqual(await idsOf(''), [second.id, id])
  assert.deepEqual(await idsOf(`verification_id=${session.id}`), [id])
  assert.deepEqual(await idsOf('external_candidate_id=stu-2'), [second.id])
  assert.deepEqual(await idsOf(`skill_id=${WIRING}`), [second.id])
  assert.deepEqual(await idsOf('status=revoked'), [])
  assert.deepEqual(await idsOf(`updated_since=${new Date(app.clock.now() - 30_000).toISOString()}`), [second.id])
  assert.equal((await partner.get('/credentials?updated_since=yesterday')).status, 400)
  const firstPage = (await partner.get('/credentials?limit=1')).body.data
  assert.deepEqual(await idsOf(`limit=1&cursor=${firstPage.next_cursor}`), [id])

  const record = (await partner.get(`/credentials/${id}`)).body.data
  assert.deepEqual(
    [record.skill, record.method, record.verification_id, record.candidate_id, record.status],
    [{ skill_id: BRICKLAYING, name: 'Bricklaying' }, 'assessment', session.id, null, 'active'],
  )
  const strangers = [
    app.as((await app.fixtures.createOrg()).key),
    app.as(await app.fixtures.createPartnerKey(orgId, { mode: 'test' })),
  ]
  for (const stranger of strangers) {
    assert.equal((await stranger.get(`/credentials/${id}`)).status, 404)
    assert.equal((await stranger.post(`/credentials/${id}/revoke`, { reason: 'other' })).status, 404)
    assert.deepEqual((await stranger.get('/credentials')).body.data.items, [])
  }
  const reader = app.as(await app.fixtures.createPartnerKey(orgId, { scopes: ['credentials:read'] }))
  assert.equal((await reader.post(`/credentials/${id}/revoke`, { reason: 'other' })).body.error.code, 'SCOPE_MISSING')
  const without = app.as(await app.fixtures.createPartnerKey(orgId, { scopes: ['results:read'] }))
  assert.equal((await without.get('/credentials')).body.error.code, 'SCOPE_MISSING')

  const { credential } = await readPublic(app, id)
  assert.equal((await partner.post(`/credentials/${id}/revoke`, { reason: 'nonsense' })).status, 400)
  const revoked = await partner.post(`/credentials/${id}/revoke`, { reason: 'endorsement_withdrawn' })
  assert.deepEqual([revoked.status, revoked.body.data.status], [200, 'revoked'])
  assert.equal(await isRevoked(app, credential), true)
  const again = await partner.post(`/credentials/${id}/revoke`, { reason: 'other' })
  assert.equal(again.body.data.revocation_reason, 'endorsement_withdrawn')
  assert.equal((await readPublic(app, id)).revokedReason, 'endorsement_withdrawn', 'the page shows it as revoked')
  const owner = await signInMember(app, orgId, 'owner')
  assert.equal((await owner.get(`/orgs/${orgId}/live/credentials`)).body.data.items.length, 2)
  assert.equal(
    (await owner.post(`/orgs/${orgId}/live/credentials/${second.id}/revoke`, { reason: 'other' })).status,
    200,
  )
})

test('a candidate who consents gets a credential for each verified skill, bound to the phone number', async () => {
  const { app } = await setUp()
  const mandate = { skills: [{ skill_id: WIRING, verify: true }], enrichment_questions: [] }
  const { token, partner, getCandidacy } = await inviteCandidate(app, { mandate })
  const page = candidatePage(app.url, token)
  const path = `/api/v1/candidate/${token}/credentials`
  const consent = await expectCandidateOk(app, path, { wanted: true })
  assert.deepEqual([consent.eligible, consent.pending.length, consent.credentials], [[], 1, []])

  await page.view()
  for (let replies = 0; (await getCandidacy()).status === 'pending' && replies < 20; replies++) {
    const { state } = await getCandidacy()
    const index = keyIndex(state)
    await page.reply({ value: index === undefined ? 'yes' : String(index) })
  }
  const candidacy = await getCandidacy()
  assert.equal(candidacy.status, 'completed')
  await issueDueCredentials(app.context)
  const offer = await expectCandidateOk(app, path)
  assert.deepEqual(
    offer.credentials.map(({ skill, status }: any) => [skill.skill_id, status]),
    [[WIRING, 'active']],
  )
  const { credential } = await readPublic(app, offer.credentials[0].id)
  const [identity, ...others] = credential.credentialSubject.identifier
  assert.deepEqual([identity.identityType, identity.salt, others], ['ext:phoneNumber', undefined, []])
  assert.match(credential.evidence[0].narrative, /correctly in an employer's campaign in English on/)
  assert.doesNotMatch(JSON.stringify(credential), new RegExp(`Asha|Verma|${candidacy.phone!.slice(1)}`))
  assert.equal((await checkOverHttp(app, credential)).verdict, 'valid')
  const asked = await app.fetch(`/credentials/${offer.credentials[0].id}/holder`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ phone: candidacy.phone }),
  })
  assert.deepEqual(asked.body.data, { matches: true })

  const { data } = (await partner.get(`/results/${candidacy.result_id}`)).body
  assert.deepEqual(data.output.credentials, [
    { skill_id: WIRING, credential_id: offer.credentials[0].id, credential_url: offer.credentials[0].url },
  ])
  const byCandidate = await partner.get(`/credentials?candidate_id=${candidacy.candidate_id}`)
  assert.equal(byCandidate.body.data.items.length, 1)
  const withdrawn = await expectCandidateOk(app, path, { wanted: false })
  assert.deepEqual(
    withdrawn.credentials.map(({ status }: any) => status),
    ['revoked'],
  )
  assert.equal('credentials' in (await partner.get(`/results/${candidacy.result_id}`)).body.data.output, false)
})
