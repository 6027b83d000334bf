import { findPublicCredential } from '../../server/credentials/credentials.ts'
import { decodeStatusList, isStatusSet } from '../../server/credentials/proof/status-list.ts'
import type { TestApp } from './app.ts'
import type { TestResponse } from './call.ts'
import { answerQuestions, expectOk, type TestSession, type VerificationCalls } from './verification.ts'

/** Sends the decision of a student about credentials. */
export function decide(calls: VerificationCalls, { token }: TestSession, body: object): Promise<TestResponse> {
  return calls.call('POST', `/verify/${token}/credentials`, { body })
}

export async function getOffer(calls: VerificationCalls, { token }: TestSession) {
  return (await expectOk(calls.call('GET', `/verify/${token}/credentials`))).body.data
}

/** Passes an assessment, about bricklaying by default. */
export async function passAssessment(
  calls: VerificationCalls,
  options: { student?: object; skills?: string[] } = {},
): Promise<TestSession> {
  const session = await calls.openPreparedSession('assessment', options)
  await expectOk(calls.submitAnswers(session, await answerQuestions(calls, session)))
  return session
}

/** Passes an assessment and wants the credentials. */
export async function issueCredential(
  calls: VerificationCalls,
  { showName = false, ...options }: { student?: object; skills?: string[]; showName?: boolean } = {},
) {
  const session = await passAssessment(calls, options)
  const { data } = (await expectOk(decide(calls, session, { wanted: true, showName }))).body
  return {
    session,
    id: data.credentials[0].id as string,
    url: data.credentials[0].url as string,
    holderToken: String(data.manageUrl).split('#token=')[1]!,
  }
}

/** Returns the credential as its public page shows it. */
export function readPublic({ context }: TestApp, id: string): Promise<any> {
  return findPublicCredential(context.db.queries, id)
}

/** Fetches the status list of a credential, as a verifier does, and returns whether the credential is revoked. */
export async function isRevoked(app: TestApp, credential: any): Promise<boolean> {
  const { statusListCredential, statusListIndex } = credential.credentialStatus
  const { status, body } = await app.fetch(new URL(statusListCredential).pathname)
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  const list = decodeStatusList(body.credentialSubject.encodedList)
  // Verifiers reject a list in which the entry of a person would stand out.
  if (list.length * 8 < 131_072) throw new Error(`the status list has ${list.length * 8} entries`)
  return isStatusSet(list, Number(statusListIndex))
}

/** Submits a credential to be checked, and returns the verdict and the steps. */
export async function checkOverHttp(app: TestApp, credential: object | string) {
  const { status, body } = await app.fetch('/credentials/verify', {
    method: 'POST',
    headers: { 'content-type': typeof credential === 'string' ? 'text/plain' : 'application/json' },
    body: typeof credential === 'string' ? credential : JSON.stringify(credential),
  })
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body.data as {
    verdict: string
    is_local: boolean
    test: boolean
    steps: { name: string; status: string; message: string }[]
  }
}

/** Returns calls to the API of the page on which a person manages credentials. */
export function holderCalls(app: TestApp, token: string) {
  const call = (method: string, body?: object) =>
    app.fetch('/api/v1/holder', {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
  return { view: () => call('GET'), change: (body: object) => call('PATCH', body) }
}

/** Calls a route of the candidate's page and returns the data of the response. */
export async function expectCandidateOk(app: TestApp, path: string, body?: object): Promise<any> {
  const response = await app.fetch(
    path,
    body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
  )
  if (response.status !== 200) throw new Error(`${response.status} ${JSON.stringify(response.body)}`)
  return response.body.data
}
