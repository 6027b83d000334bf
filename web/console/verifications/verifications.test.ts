import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkPage, getButton, openConsolePage } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import {
  BRICKLAYING,
  expectOk,
  PLASTERING,
  requestReview,
  verificationCalls,
} from '../../../test/support/verification.ts'

test('verifications can be filtered by status, and the review email can be resent', async (t) => {
  const app = await startApp(t, { worker: true })
  runClock(t, app.clock)
  const { orgId } = await requestReview(app)
  const page = await openConsolePage(t, app)
  await page.goto(`${app.url}/console/${orgId}/live/verifications`)
  await page.getByRole('link', { name: 'Asha Rao' }).waitFor()
  await checkPage(page, 'verifications')
  await page.getByLabel('Status').selectOption('completed')
  await page.getByText('No verifications').waitFor()
  assert.equal(await page.getByText('test.attestry.example').count(), 0)
  await page.getByLabel('Status').selectOption('pending_review')
  await page.getByRole('link', { name: 'Asha Rao' }).click()
  await page.getByText(/^Ravi Menon, Metro Ltd \(ravi\.menon@metro\.example\), email sent /i).waitFor()
  await page.getByRole('cell', { name: 'Bricklaying' }).waitFor()
  app.clock.advance(120_000)
  await getButton(page, 'Resend the review request').click()
  await page.getByText('The review request will be sent again.').waitFor()
  await checkPage(page, 'verification')
  await page.getByRole('link', { name: 'review request' }).first().click()
  await page.getByRole('heading', { level: 1, name: /Asha Rao/ }).waitFor()
})

test('in test mode, the empty list of verifications names the test students and reviewers', async (t) => {
  const app = await startApp(t)
  const { orgId } = await app.fixtures.createOrg()
  const page = await openConsolePage(t, app)
  await page.goto(`${app.url}/console/${orgId}/test/verifications`)
  await page.getByText('test.attestry.example').waitFor()
  await page.getByText('endorse@').waitFor()
})

test('a verification shows the messages to the phone of the reviewer, with the text in test mode', async (t) => {
  const app = await startApp(t)
  const { orgId } = await app.fixtures.createOrg()
  const page = await openConsolePage(t, app)
  for (const mode of ['test', 'live'] as const) {
    const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId, mode), mode)
    const { session } = await calls.requestReview({ reviewer: { phone: '+919812345678' } })
    await page.goto(`${app.url}/console/${orgId}/${mode}/verifications/${session.id}`)
    const table = page.getByRole('table', { name: 'WhatsApp and SMS messages of this verification' })
    if (mode === 'test') {
      await table.getByRole('cell', { name: 'WhatsApp', exact: true }).waitFor()
      await table.getByRole('cell', { name: /Asha Rao asks you to confirm skills/ }).waitFor()
    } else await table.getByRole('cell', { name: 'neither WhatsApp nor SMS is set up for the organisation' }).waitFor()
    await page.getByText('+919812345678').waitFor()
    await checkPage(page, `verification-messages-${mode}`)
  }
})

test('a verification shows how well its endorsement supports the skills', async (t) => {
  const app = await startApp(t)
  const { orgId, session, submitReview, getReviewToken } = await requestReview(app)
  const decisions = [BRICKLAYING, PLASTERING].map((skillId) => ({ skillId, endorsed: true }))
  app.clock.advance(3_600_000)
  await expectOk(submitReview(session, await getReviewToken(session), { decisions }))
  const page = await openConsolePage(t, app)
  await page.goto(`${app.url}/console/${orgId}/live/verifications/${session.id}`)
  await page.getByRole('heading', { level: 2, name: 'Evidence moderate' }).waitFor()
  const reasons = page.getByRole('list', { name: 'Reasons for the level' }).getByRole('listitem')
  assert.deepEqual(await reasons.allTextContents(), [
    'No company website was given to compare the email address with.',
    'The reviewer is a manager, mentor, client or teacher of the student. (supports it)',
  ])
  await checkPage(page, 'verification-evidence')
})

test('a verification by assessment shows the evidence of each skill', async (t) => {
  const app = await startApp(t)
  const { orgId } = await app.fixtures.createOrg()
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId, 'test'), 'test')
  const session = await calls.openPreparedSession('assessment', {
    skills: [BRICKLAYING, PLASTERING],
    student: { email: 'inconclusive@test.attestry.example' },
  })
  const { body } = await expectOk(calls.generateAssessment(session))
  // The first option is right: all answers about the first skill, 4 of 5 about the second.
  const answers = body.data.questions.map(({ questionId, options }: any, index: number) => ({
    questionId,
    option: options[index === 5 ? 1 : 0],
  }))
  await expectOk(calls.submitAnswers(session, answers))
  const page = await openConsolePage(t, app)
  await page.goto(`${app.url}/console/${orgId}/test/verifications/${session.id}`)
  await page
    .getByRole('row', {
      name: /^Bricklaying passed 5 of 5 correct, 9\d % certain; public questions, asked in English$/,
    })
    .waitFor()
  await page
    .getByRole('row', {
      name: 'Cement plastering not passed not enough evidence (4 of 5 correct); public questions, asked in English',
    })
    .waitFor()
  await checkPage(page, 'verification-assessment')
})
