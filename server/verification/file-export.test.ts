import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../test/support/app.ts'
import { createPartner } from '../../test/support/partners.ts'
import { aPng } from '../../test/support/proof-files.ts'
import { answerQuestions, expectOk, verificationCalls } from '../../test/support/verification.ts'

test('the export of a student contains each attempt of an assessment', async (t) => {
  const app = await startApp(t)
  const partner = await createPartner(app, 'live')
  const calls = verificationCalls(app, partner.orgId, await app.fixtures.createSessionKey(partner.orgId))
  const session = await calls.openPreparedSession('assessment')
  const startedAt = new Date(app.clock.now()).toISOString()
  const answers = await answerQuestions(calls, session, () => false)
  app.clock.advance(60_000)
  const submittedAt = new Date(app.clock.now()).toISOString()
  await expectOk(calls.submitAnswers(session, answers))
  app.clock.advance(60_000)
  await expectOk(calls.generateAssessment(session))
  const { person_id } = (await expectOk(partner.get('/people?email=asha@example.com'))).body.data.items[0]
  const { sections } = (await expectOk(partner.get(`/people/${person_id}/export`))).body.data
  const { assessments } = sections.find(({ name }: any) => name === 'verifications').records[0]
  assert.deepEqual(
    assessments.map(({ started_at, submitted_at, correct, score, passed }: any) => [
      started_at,
      submitted_at,
      correct,
      score,
      passed,
    ]),
    [
      [startedAt, submittedAt, 0, 0, false],
      [new Date(app.clock.now()).toISOString(), null, null, null, null],
    ],
  )
  assert.equal(Object.keys(assessments[0].answers).length, answers.length)
})

test('the export offers files for download, and only describes files that are too large together', async (t) => {
  const app = await startApp(t)
  const partner = await createPartner(app, 'live')
  const calls = verificationCalls(app, partner.orgId, await app.fixtures.createSessionKey(partner.orgId))
  const session = await calls.openPreparedSession('human')
  const body = {
    sourceType: 'experience',
    externalId: 'w-1',
    name: 'wall & roof.png',
    content: aPng().toString('base64'),
  }
  const { fileId } = (await expectOk(calls.call('POST', `/verify/${session.token}/files`, { body }))).body.data
  const { person_id } = (await expectOk(partner.get('/people?email=asha@example.com'))).body.data.items[0]
  const exportAs = async (format: 'json' | 'html') =>
    (await expectOk(partner.get(`/people/${person_id}/export?format=${format}`))).body.data
  const exportedFile = async () =>
    (await exportAs('json')).sections.find(({ name }: any) => name === 'verifications').records[0].files[0]

  assert.equal((await exportedFile()).content, body.content)
  const { html } = await exportAs('html')
  const url = `data:image/png;base64,${body.content}`
  assert.ok(html.includes(`<a href="${url}" download="wall &#38; roof.png">wall &#38; roof.png</a>`))
  assert.equal(html.split(body.content).length, 2, 'the content is in the link only')

  await app.context.db.pool.query('update proof_files set size = 22000000 where file_id = $1', [fileId])
  const { content, note, name, mediaType, size } = await exportedFile()
  assert.deepEqual([content, name, mediaType, size], [undefined, 'wall & roof.png', 'image/png', 22_000_000])
  assert.match(note, /larger than 20 MB/)
  assert.ok(!(await exportAs('html')).html.includes(body.content))
})
