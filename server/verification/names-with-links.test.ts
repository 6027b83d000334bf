import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aMandate } from '../../test/support/app.ts'
import { signIn } from '../../test/support/console.ts'
import { errorPaths } from '../../test/support/partners.ts'
import { aStudent, outcomeOf, replaceStudent, sharedVerification } from '../../test/support/verification.ts'

const start = sharedVerification()
const LINK = 'Your account is locked: sign in at https://evil.example/unlock'

test('names and titles that reach an email must not contain links', async () => {
  const calls = await start()
  const { key } = calls
  for (const [changes, path] of [
    [{ name: LINK }, 'name'],
    [{ name: 'Asha bank.example' }, 'name'],
    [{ projects: [{ externalProjectId: 'p', projectName: 'evil.com' }] }, 'projects[0].projectName'],
    [{ projects: [{ externalProjectId: 'p', projectName: 'x', role: 'www.evil' }] }, 'projects[0].role'],
    [
      { workExperiences: [{ externalExperienceId: 'w', companyName: LINK, role: 'x' }] },
      'workExperiences[0].companyName',
    ],
    [{ workExperiences: [{ externalExperienceId: 'w', companyName: 'x', role: LINK }] }, 'workExperiences[0].role'],
    [
      { certificates: [{ externalCertificateId: 'c', certificateName: LINK, issuer: 'x' }] },
      'certificates[0].certificateName',
    ],
    [{ certificates: [{ externalCertificateId: 'c', certificateName: 'x', issuer: LINK }] }, 'certificates[0].issuer'],
  ] as const) {
    const response = await calls.call('POST', '/verify', { key, body: aStudent(changes) })
    assert.equal(outcomeOf(response), '400 VALIDATION_FAILED', path)
    assert.ok(response.body.error.message.startsWith(`${path}: must not contain a web address`), path)
  }
  const session = await calls.openPreparedSession('human')
  for (const [changes, path] of [
    [{ name: LINK }, 'name'],
    [{ company: 'Metro evil.example/login' }, 'company'],
  ] as const) {
    const response = await calls.storeReviewer(session, changes)
    assert.equal(outcomeOf(response), '400 VALIDATION_FAILED', path)
    assert.ok(response.body.error.message.startsWith(`${path}: must not contain`), path)
  }
})

test('degrees, technologies and initials are accepted', async () => {
  const calls = await start()
  const { session } = await calls.requestReview({
    student: {
      name: 'Dr. A.P.J.Abdul Kalam, B.Tech',
      workExperiences: [
        { externalExperienceId: 'w-1', companyName: 'Metro Pvt.Ltd', role: 'Node.js / ASP.NET developer' },
      ],
    },
    reviewer: { company: "St. Xavier's" },
  })
  const [email] = await calls.listEmails(session)
  assert.equal(email!.subject, 'Dr. A.P.J.Abdul Kalam, B.Tech asks you to confirm a skill')
  assert.match(email!.text, /Node\.js \/ ASP\.NET developer, Metro Pvt\.Ltd/)
})

test('stored names with links are shown without links', async () => {
  const calls = await start()
  const session = await calls.openPreparedSession('human')
  await replaceStudent(calls.app.context, session, { ...aStudent(), name: LINK })

  assert.equal((await calls.storeReviewer(session)).status, 200)

  const [email] = await calls.listEmails(session)
  assert.equal(email!.subject, 'Your account is locked: sign in at evil. example/unlock asks you to confirm a skill')
  assert.ok(!`${email!.text} ${email!.html}`.includes('evil.example'))
})

test('titles and company names of mandates, and names of organisations, must not contain links', async () => {
  const { app } = await start()
  const { orgId, key } = await app.fixtures.createOrg()
  const { workflow_id } = await app.fixtures.createWorkflow({ orgId, mode: 'live' })
  const body = { ...aMandate(workflow_id), title: 'Win at evil.com', company_name: LINK }
  const response = await app.as(key).post('/mandates', body)
  assert.equal(response.status, 400)
  assert.deepEqual(errorPaths(response as never), ['title', 'company_name'])
  assert.equal(
    (await app.as(key).post('/mandates', { ...body, title: 'ASP.NET developer', company_name: 'Metro Pvt.Ltd' }))
      .status,
    202,
  )

  const operator = await signIn(app)
  const orgResponse = await operator.post('/operator/orgs', { name: 'evil.com' })
  assert.equal(orgResponse.status, 400)
  assert.deepEqual(errorPaths(orgResponse as never), ['name'])
})
