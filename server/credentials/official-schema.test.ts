import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestApp } from '../../test/support/app.ts'
import { candidatePage, inviteCandidate, keyIndex } from '../../test/support/candidate.ts'
import { decide, expectCandidateOk, issueCredential } from '../../test/support/issued-credentials.ts'
import {
  compileOfficialSchema,
  type OfficialSchema,
  officialSchemaSkipReason,
} from '../../test/support/official-schemas.ts'
import { learnerRecordErrors, openBadgeErrors } from '../../test/support/open-badge-schema.ts'
import { BRICKLAYING, expectOk, sharedVerification, WIRING } from '../../test/support/verification.ts'
import type { JsonObject } from '../platform/json.ts'
import { issueDueCredentials } from './engine.ts'

const setUp = sharedVerification()
const setUpTestMode = sharedVerification('test')

/** Issues a credential for an endorsed skill, and returns its URL. */
async function issueForEndorsement(showName: boolean): Promise<string> {
  const calls = await setUp()
  const { session, token } = await calls.requestReview()
  await expectOk(decide(calls, session, { wanted: true, showName }))
  await expectOk(
    calls.submitReview(session, token, { decisions: [{ skillId: BRICKLAYING, endorsed: true, rating: 5 }] }),
  )
  await issueDueCredentials(calls.app.context)
  return (await calls.getVerification(session)).credentials[0].url
}

/** Lets a candidate verify a skill in a campaign, and returns the URL of the credential. */
async function issueForCandidate(showName: boolean): Promise<string> {
  const { app } = await setUp()
  const mandate = { skills: [{ skill_id: WIRING, verify: true }], enrichment_questions: [] }
  const { token, getCandidacy } = await inviteCandidate(app, { mandate })
  const page = candidatePage(app.url, token)
  const path = `/api/v1/candidate/${token}/credentials`
  await expectCandidateOk(app, path, { wanted: true, show_name: showName })
  await page.view()
  for (let replies = 0; (await getCandidacy()).status === 'pending' && replies < 20; replies++) {
    const index = keyIndex((await getCandidacy()).state)
    await page.reply({ value: index === undefined ? 'yes' : String(index) })
  }
  await issueDueCredentials(app.context)
  return (await expectCandidateOk(app, path)).credentials[0].url
}

interface Issued {
  kind: string
  /** The credential with its proof, or the payload of a VC-JWT. */
  content: JsonObject
}

/** Issues a credential of every kind and returns it as the public routes do: as JSON and as VC-JWT. */
async function issueEveryKind(): Promise<Record<OfficialSchema, Issued[]>> {
  const calls = await setUp()
  const named = await issueCredential(calls, { showName: true })
  const urls: [kind: string, url: string][] = [
    ['assessment', (await issueCredential(calls, { skills: [WIRING] })).url],
    ['assessment with name', named.url],
    ['endorsement', await issueForEndorsement(false)],
    ['endorsement with name', await issueForEndorsement(true)],
    ['campaign', await issueForCandidate(false)],
    ['campaign with name', await issueForCandidate(true)],
  ]
  const openBadge: Issued[] = []
  for (const [kind, url] of urls) openBadge.push(...(await readCredential(calls.app, kind, url)))
  const test = await setUpTestMode()
  const { url } = await issueCredential(test)
  openBadge.push(...(await readCredential(test.app, 'assessment in TEST mode', url)))
  const record = await fetch(`${calls.app.url}/api/v1/holder/clr`, {
    headers: { authorization: `Bearer ${named.holderToken}` },
  })
  return { openBadge, learnerRecord: [{ kind: 'learner record', content: decodePayload(await record.text()) }] }
}

async function readCredential(app: TestApp, kind: string, url: string): Promise<Issued[]> {
  const path = new URL(url).pathname
  const { status, body } = await app.fetch(`${path}.json`)
  assert.equal(status, 200, kind)
  const hasName = body.credentialSubject.identifier.some(({ identityType }: any) => identityType === 'name')
  assert.equal(hasName, kind.endsWith('with name'), kind)
  const jwt = await fetch(`${app.url}${path}.jwt`)
  return [
    { kind, content: body },
    { kind: `${kind}, VC-JWT`, content: decodePayload(await jwt.text()) },
  ]
}

function decodePayload(jwt: string): JsonObject {
  return JSON.parse(Buffer.from(jwt.split('.')[1]!, 'base64url').toString())
}

function withoutClaims({ iss: _iss, sub: _sub, jti: _jti, nbf: _nbf, exp: _exp, ...content }: JsonObject): JsonObject {
  return content
}

test('credentials of every kind have the structure of their standard', async (t) => {
  const issued = await issueEveryKind()

  await t.test('according to our own rules', () => {
    for (const { kind, content } of issued.openBadge)
      assert.deepEqual(openBadgeErrors(withoutClaims(content)), [], kind)
    for (const { kind, content } of issued.learnerRecord)
      assert.deepEqual(learnerRecordErrors(withoutClaims(content)), [], kind)
  })

  for (const [schema, name] of [
    ['openBadge', 'Open Badges 3.0'],
    ['learnerRecord', 'Comprehensive Learner Record 2.0'],
  ] as const)
    await t.test(`according to 1EdTech's JSON Schema of ${name}`, { skip: officialSchemaSkipReason(schema) }, () => {
      const errorsOf = compileOfficialSchema(schema)
      for (const { kind, content } of issued[schema]) {
        assert.deepEqual(errorsOf(content), [], kind)
        const { issuer: _, ...incomplete } = content
        assert.deepEqual(errorsOf(incomplete), ["/ must have required property 'issuer'"], kind)
      }
    })
})
