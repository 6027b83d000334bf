import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { findCandidacy } from '../../../server/campaigns/candidacy.ts'
import { candidatePageUrl } from '../../../server/campaigns/candidate-page/links.ts'
import { newPage } from '../../../test/browser/browser.ts'
import { checkPage, getButton, openConsolePage, waitForHeading } from '../../../test/browser/console-page.ts'
import { startRecruiterConsole } from '../../../test/browser/recruiter-console.ts'
import {
  type AiResponder,
  respondWithCompletion,
  respondWithError,
  startAiEndpoint,
} from '../../../test/support/ai-endpoint.ts'
import type { TestApp } from '../../../test/support/app.ts'
import { signInMember } from '../../../test/support/console.ts'
import { until } from '../../../test/support/until.ts'

const PHONE = { width: 360, height: 740, hasTouch: true, isMobile: true }
const QUESTION = 'Do you hold a wireman licence?'
const AI_HINDI = 'क्या आपके पास वायरमैन लाइसेंस है?'
const HINDI = 'क्या आपके पास वायरमैन का लाइसेंस है?'

/** Returns the link to the page of the only candidate, after the first message was sent. */
async function waitForCandidateLink({ context }: TestApp): Promise<string> {
  const { queries } = context.db
  const find = () => queries.selectFrom('contacts').select('candidate_id').executeTakeFirst()
  await until(async () => (await find()) !== undefined)
  const { candidate_id } = (await find())!
  return candidatePageUrl(context, (await findCandidacy(queries, candidate_id))!)
}

/** Starts creating a mandate that asks only the organisation's own questions, and writes the first question. */
async function writeQuestion(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Jobs', exact: true }).click()
  await page.getByRole('link', { name: /job$/ }).first().click()
  await page.getByLabel('Job title').fill('Electrician')
  await page.getByLabel('Company', { exact: true }).fill('Metro Ltd')
  await page.getByRole('combobox', { name: 'Add skill' }).fill('house wirin')
  await page.getByRole('option', { name: /^House wiring/ }).click()
  await page.getByRole('checkbox', { name: /^Skills/ }).uncheck()
  await page.getByRole('checkbox', { name: /^Interest/ }).uncheck()
  await getButton(page, 'Add question').click()
  await page.getByLabel('Question 1, in English').fill(QUESTION)
}

test('a recruiter confirms a suggested translation, and a candidate is asked in Hindi', async (t) => {
  let responder: AiResponder = respondWithError(503, { 'retry-after': '0' })
  const { baseUrl, calls } = await startAiEndpoint(t, (call, response) => responder(call, response))
  const config = { ai: { baseUrl, apiKey: 'secret-key', model: 'some-model' } }
  const { app, orgId, scope, consoleUrl } = await startRecruiterConsole(t, { config })
  await app.fixtures.createWorkflow(scope, { languages: ['en', 'hi', 'ta'] }, 'playground')
  const recruiter = await signInMember(app, orgId, 'recruiter')
  const page = await openConsolePage(t, app, { email: recruiter.email })
  await writeQuestion(page)
  await page.getByText('Missing translations: Hindi (1 of 1), Tamil (1 of 1).').waitFor()

  await getButton(page, 'Suggest translations').click()
  await page.getByRole('alert').getByText('the AI endpoint could not be reached').waitFor()
  await checkPage(page, 'question-translation-error')
  responder = respondWithCompletion({ hi: [AI_HINDI], ta: ['உரிமம் உள்ளதா?'] })
  await getButton(page, 'Suggest translations').click()
  await page.getByText('Check each suggestion.').waitFor()
  assert.equal(await page.getByLabel('Question 1, in Hindi').inputValue(), '', 'a suggestion is not used by itself')
  await checkPage(page, 'question-translation-suggested')
  await getButton(page, 'Use this translation: question 1, Hindi').click()
  assert.equal(await page.evaluate('document.activeElement.id'), 'question-0-hi')
  assert.equal(await page.getByLabel('Question 1, in Hindi').inputValue(), AI_HINDI)
  await page.getByLabel('Question 1, in Hindi').fill(HINDI) // the recruiter corrects it
  await getButton(page, 'Discard: question 1, Tamil').click()
  await page.getByText('Missing translations: Tamil (1 of 1).').waitFor()
  await page.getByText('Some of your questions lack a translation and are asked in English').waitFor()
  const callsBeforeSaving = calls.length
  await getButton(page, 'Create job').click()
  await waitForHeading(page, /^Electrician ready/)
  assert.equal(calls.length, callsBeforeSaving, 'nothing is translated without confirmation')
  await page.getByText('because a translation is missing: Tamil (1 of 1).').waitFor()
  await getButton(page, 'हिन्दी').click()
  const questionList = page.locator('.question-list')
  await questionList.getByText(HINDI).waitFor()
  await questionList.getByText('your text').waitFor()
  await getButton(page, 'தமிழ்').click()
  await questionList.getByText('only in English').waitFor()
  await checkPage(page, 'question-translation-mandate')

  await page.getByRole('link', { name: 'New campaign' }).click()
  await page.getByLabel(/^Paste rows/).fill('Name;Mobile;Ref\nAsha Rao;+919812345678;c-1')
  await getButton(page, 'Preview rows').click()
  await getButton(page, 'Start campaign').click()
  await page.getByText('1 candidate enrolled.').waitFor()
  const link = await waitForCandidateLink(app)
  const phone = await newPage(t, PHONE)
  await phone.goto(link)
  await phone.getByRole('button', { name: 'Yes', exact: true }).click()
  await phone.getByRole('button', { name: 'हिन्दी', exact: true }).click()
  await phone.locator('.log').getByText(HINDI).waitFor()
  await checkPage(phone, 'question-translation-candidate')

  // A changed English text marks the translation, on a small screen too.
  await page.setViewportSize({ width: 360, height: 740 })
  await page.goto(consoleUrl('/mandates'))
  await page.getByRole('link', { name: 'Electrician' }).click()
  await page.getByRole('link', { name: 'Edit and translate' }).click()
  await page.getByLabel('Question 1, in English').fill('Do you hold a valid wireman licence?')
  await page.getByText('The English text has changed. Check this translation.').waitFor()
  await checkPage(page, 'question-translation-changed-360')
})

test('without an AI writer, the recruiter writes the translations; empty and long ones are reported at the field', async (t) => {
  const { app, orgId, scope } = await startRecruiterConsole(t)
  await app.fixtures.createWorkflow(scope, { languages: ['en', 'hi', 'bn', 'ta', 'te'] }, 'playground')
  const recruiter = await signInMember(app, orgId, 'recruiter')
  const page = await openConsolePage(t, app, { email: recruiter.email, colorScheme: 'dark' })
  await writeQuestion(page)
  assert.equal(await getButton(page, 'Suggest translations').count(), 0)
  await page.getByText('Translations: 0 of 4').click() // folded, because there are many languages
  await page.getByLabel('Question 1, in Tamil').fill('அ'.repeat(201))
  await page.locator('#question-0-ta-error').waitFor()
  await page.getByLabel('Question 1, in Tamil').fill(' ')
  await page.locator('#question-0-ta-error').getByText('must not be blank').waitFor()
  await page.getByLabel('Question 1, in Tamil').fill('')
  await page.locator('#question-0-ta-error').waitFor({ state: 'detached' })
  await page.getByLabel('Question 1, in Hindi').fill(HINDI)
  await page.getByText('Translations: 1 of 4').waitFor()
  await checkPage(page, 'question-translation-dark')
  await getButton(page, 'Create job').click()
  await waitForHeading(page, /^Electrician ready/)
  await page.getByText('Bengali (1 of 1), Tamil (1 of 1), Telugu (1 of 1).').waitFor()
})

test('a recruiter reads the quality of the questions of a mandate and replaces one', async (t) => {
  const { app, orgId, scope, consoleUrl } = await startRecruiterConsole(t)
  const skills = [{ skill_id: 'sk_2001', verify: true }]
  const workflow = await app.fixtures.createWorkflow(scope, { languages: ['en', 'hi'] }, 'playground')
  const { mandate_id } = await app.fixtures.createMandate(
    scope,
    { skills, workflow_id: workflow.workflow_id },
    'playground',
  )
  const recruiter = await signInMember(app, orgId, 'recruiter')
  const page = await openConsolePage(t, app, { email: recruiter.email })
  await page.goto(consoleUrl(`/mandates/${mandate_id}`))
  await page.getByText(/^All \d+ questions: source, quality and use$/).click()
  const table = page.getByRole('table', { name: 'All questions about House wiring' })
  const firstRow = table.getByRole('row').nth(1)
  await firstRow.getByText('Not proven yet').waitFor()
  await firstRow.getByRole('button', { name: /^Do not ask/ }).click()
  await firstRow.getByText('excluded', { exact: true }).waitFor()
  await page.getByText('1 excluded from this job.').waitFor()
  await checkPage(page, 'mandate-questions')
  await page.setViewportSize({ width: 360, height: 740 })
  await checkPage(page, 'mandate-questions-360')
  await firstRow.getByRole('button', { name: /^Ask again/ }).click()
  await firstRow.getByText('active', { exact: true }).waitFor()
})
