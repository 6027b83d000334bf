import { getMail, listMails } from '../../server/mail/mail.ts'
import type { TestApp } from './app.ts'

export const A_STUDENT = {
  externalStudentId: 'stu-1',
  name: 'Asha Verma',
  email: 'asha@example.com',
  workExperiences: [
    {
      externalExperienceId: 'exp-1',
      companyName: 'Metro Fabricators',
      role: 'Welder',
      description: 'Structural steel for two flyovers.',
      startDate: '2023-04',
      endDate: '2025-06',
    },
  ],
  projects: [{ externalProjectId: 'pro-1', projectName: 'School gate', role: 'Lead welder' }],
  certificates: [{ externalCertificateId: 'cer-1', certificateName: 'ITI Welder', issuer: 'ITI Pune' }],
}

export type OpenSession = Awaited<ReturnType<typeof openSession>>

/** A student's session, as a partner's server opens it, and calls with its token. */
export async function openSession(app: TestApp, student: object = A_STUDENT) {
  const { orgId } = await app.given.org()
  const key = await app.given.sessionKey(orgId)
  const opened = await send(app, '/verify', student, { 'x-api-key': key })
  const { sessionToken, serviceVerificationId: id } = opened.data
  const post = (path: string, body: object = {}) => send(app, path, body, { 'x-session-token': sessionToken })
  return { orgId, key, sessionToken, id, post }
}

/** Skills, method and items stored. */
export async function storeSteps({ post, sessionToken, id }: OpenSession, verificationMethod: 'human' | 'assessment') {
  await post('/step1/storeskills/store', {
    sessionToken,
    skills: [
      { skillId: 'sk_1001', proofUrl: ['https://example.com/wall'] },
      { skillId: 'sk_1016', proofUrl: [] },
    ],
  })
  await post('/step2/verification-method', { serviceVerificationId: id, verificationMethod })
  await post('/step3/store-verification-items/store', { sessionToken, workExperienceIds: ['exp-1'] })
}

/** A review that waits for its reviewer; answers the link of the mail. */
export async function requestReview(app: TestApp, student: object = A_STUDENT) {
  const session = await openSession(app, student)
  await storeSteps(session, 'human')
  await session.post('/storereviewerdetails/store', {
    serviceVerificationId: session.id,
    name: 'Ravi Kumar',
    email: 'ravi@metro.example',
    company: 'Metro Fabricators',
  })
  const { db, vault } = app.context
  const [mail] = await listMails(db.queries, { subjectId: session.id, limit: 1 })
  const { text } = await getMail(db.queries, vault, mail!.mail_id)
  return { ...session, link: /https?:\/\/\S+#token=\S+/.exec(text)![0] }
}

async function send(app: TestApp, path: string, body: object, headers: Record<string, string>) {
  const answer = await app.fetch(`/api/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}
