import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { erasePerson } from '../../server/people/erasure.ts'
import { findVerification } from '../../server/verification/sessions.ts'
import { assertAccessible } from '../../test/browser/axe.ts'
import { newPage } from '../../test/browser/browser.ts'
import { checkSizes } from '../../test/browser/check-sizes.ts'
import { checkPage, openConsolePage } from '../../test/browser/console-page.ts'
import { omitFields } from '../../test/browser/omit-fields.ts'
import { saveScreenshot } from '../../test/browser/screenshots.ts'
import { startApp, type TestApp } from '../../test/support/app.ts'
import { runClock } from '../../test/support/clock.ts'
import { signInMember } from '../../test/support/console.ts'
import { createPartner } from '../../test/support/partners.ts'
import { aPdf, aPng } from '../../test/support/proof-files.ts'
import { until } from '../../test/support/until.ts'
import {
  BRICKLAYING,
  expectOk,
  PLASTERING,
  startVerification,
  verificationCalls,
  WIRING,
} from '../../test/support/verification.ts'
import { readEmailCode } from '../../test/support/your-data.ts'

const PHONE = { width: 320, height: 640, hasTouch: true, isMobile: true }

/** Starts a server whose students are in TEST mode, so that test students get questions whose right option is first. */
async function startTestVerification(t: TestContext) {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { orgId } = await app.fixtures.createOrg()
  return verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId, 'test'), 'test')
}

/** Answers all questions, the first option if `isCorrect` returns true for the index of the question, and submits. */
async function answerQuestions(page: Page, total: number, isCorrect: (index: number) => boolean) {
  for (let index = 0; index < total; index++) {
    await page.getByText(`Question ${index + 1} of ${total}`).waitFor()
    await page
      .getByRole('radio')
      .nth(isCorrect(index) ? 0 : 1)
      .click()
    await page.getByRole('button', { name: index + 1 === total ? 'Finish' : 'Next' }).click()
  }
  await page.getByRole('button', { name: 'Submit my answers' }).click()
}

/** Returns the name of a skill about which there are too few questions. */
async function findUnmeasuredSkill(app: TestApp): Promise<string> {
  const { get } = await createPartner(app, 'test')
  for (const word of ['philosophy', 'astronomy', 'diplomacy', 'choreography', 'management', 'research']) {
    const { body } = await get(`/skills/search?q=${word}&limit=20`)
    const skill = body.data.items.find(({ verifiable }: { verifiable: boolean }) => !verifiable)
    if (skill) return skill.name
  }
  throw new Error('no skill without questions found')
}

async function chooseSkill(page: Page, name: string) {
  await page.getByRole('combobox', { name: 'Search for a skill' }).fill(name)
  await page.getByRole('option', { name, exact: true }).click()
  await page.getByRole('button', { name: `Remove ${name}` }).waitFor()
}

/** Opens the page of a session, and agrees to the notice about personal data. */
async function openStudentPage(page: Page, url: string, agreement = 'I have read this and agree') {
  await page.goto(url)
  await page.getByRole('button', { name: agreement }).click()
}

const skillRow = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: name })

test('a student on a small phone chooses skills, a method and a reviewer', async (t) => {
  const { app, openSession } = await startVerification(t)
  runClock(t, app.clock)
  const { token, id } = await openSession()
  const page = await newPage(t, PHONE)
  await page.goto(`${app.url}/session#token=${token}`)
  await page.getByRole('heading', { name: 'Your data and your rights' }).waitFor()
  const { organisationName } = (await app.fetch(`/api/v1/verify/${token}`)).body.data
  await page.getByRole('heading', { name: `${organisationName} asks you to verify your skills` }).waitFor()
  await page.getByText(`${organisationName} receives the result for each skill.`).waitFor()
  await checkSizes(page, 'student-notice')
  await page.getByRole('button', { name: 'I have read this and agree' }).click()

  await page.getByRole('heading', { name: 'Which skills do you want verified?' }).waitFor()
  await assertAccessible(page)
  const search = page.getByRole('combobox', { name: 'Search for a skill' })
  await search.fill('bricklayin')
  await page.getByRole('option', { name: 'Bricklaying', exact: true }).waitFor()
  await saveScreenshot(page, 'student-phone-search')
  await search.press('ArrowDown')
  await search.press('Enter')
  await page.getByRole('button', { name: 'Remove Bricklaying' }).waitFor()
  await search.fill('cement plast')
  await page.getByRole('option', { name: 'Cement plastering', exact: true }).click()
  await page.reload() // the chosen skills survive a reload
  await page.getByRole('button', { name: 'Remove Cement plastering' }).waitFor()
  await saveScreenshot(page, 'student-phone-skills')
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Continue' }).click()

  await page.getByRole('radio', { name: /Someone confirms my skills/ }).click()
  await saveScreenshot(page, 'student-phone-method')
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Continue' }).click()

  await page.getByRole('checkbox', { name: /^Fabricator/ }).click()
  await saveScreenshot(page, 'student-phone-items')
  await assertAccessible(page)
  await page.getByRole('button', { name: 'Continue' }).dblclick()

  await page.getByRole('heading', { name: 'Who can confirm your skills?' }).waitFor()
  await page.getByLabel('Their name').fill('Ravi Kumar')
  await page.getByLabel('Their email address').fill('asha@example.com')
  await page.getByLabel('Their company or school').fill('Metro Fabricators')
  await page.getByRole('radio', { name: 'Client' }).click()
  await page.getByRole('button', { name: 'Send the request' }).click()
  await page.getByText('Please check the email address. It cannot be your own.').waitFor()
  await saveScreenshot(page, 'student-phone-reviewer')
  await assertAccessible(page)
  await page.getByLabel('Their email address').fill('ravi@metro.example')
  await page.getByLabel(/Their phone number/).fill('98123 45678')
  await page.getByRole('button', { name: 'Send the request' }).click()
  await page.getByText('This phone number cannot be used.').waitFor()
  await page.getByLabel(/Their phone number/).fill('+91 98123-45678')
  await page.getByRole('button', { name: 'Send the request' }).click()
  await page.getByRole('heading', { name: 'Request sent' }).waitFor()
  await saveScreenshot(page, 'student-phone-waiting')
  assert.ok(
    await page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
    'the page has no horizontal overflow',
  )

  const response = await app.fetch(`/api/v1/humanverification/verify-page/${id}`)
  assert.equal(response.body.data.endorsementType, 'client')
  assert.equal(response.body.data.endorserInfo.email, 'ravi@metro.example')
  await page.reload()
  await page.getByRole('heading', { name: 'Request sent' }).waitFor()
})

test('a student attaches a photo and a document on a small phone, and the reviewer and the console show them', async (t) => {
  const { app, orgId, openSession, storeSkills, chooseMethod, getReviewToken } = await startVerification(t)
  runClock(t, app.clock)
  const session = await openSession()
  await expectOk(storeSkills(session))
  await expectOk(chooseMethod(session, 'human'))
  const page = await newPage(t, PHONE)
  await openStudentPage(page, `${app.url}/session#token=${session.token}`)
  assert.equal(await page.getByLabel(/Add a photo or file/).count(), 0)
  await page.getByRole('checkbox', { name: /^Fabricator/ }).click()
  const input = page.getByLabel(/Add a photo or file/)
  const file = (name: string, buffer: Buffer) => ({ name, mimeType: 'image/png', buffer })
  await input.setInputFiles(file('script.png', Buffer.from('<script>')))
  await page.getByRole('alert').getByText('This file cannot be used.').waitFor()
  await input.setInputFiles(file('wall.png', aPng({ comment: 'by Asha' })))
  await page.getByRole('button', { name: 'Delete wall.png' }).waitFor()
  await input.setInputFiles(file('wrong.png', aPng()))
  await page.getByRole('button', { name: 'Delete wrong.png' }).click()
  await page.getByRole('button', { name: 'Delete wrong.png' }).waitFor({ state: 'detached' })
  await input.setInputFiles(file('certificate.pdf', aPdf()))
  await page.getByRole('button', { name: 'Delete certificate.pdf' }).waitFor()
  await input.setInputFiles(file('second.png', aPng()))
  await page.getByRole('button', { name: 'Delete second.png' }).waitFor()
  await page.getByRole('checkbox', { name: /^Fabricator/ }).click()
  assert.equal(await input.count(), 0)
  await page.getByRole('button', { name: 'Delete second.png' }).click() // also while the item is not chosen
  await page.getByRole('button', { name: 'Delete second.png' }).waitFor({ state: 'detached' })
  await page.getByRole('checkbox', { name: /^Fabricator/ }).click()
  await checkSizes(page, 'student-files')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByLabel('Their name').fill('Ravi Kumar')
  await page.getByLabel('Their email address').fill('ravi@metro.example')
  await page.getByLabel('Their company or school').fill('Metro Fabricators')
  await page.getByRole('button', { name: 'Send the request' }).click()
  await page.getByRole('heading', { name: 'Request sent' }).waitFor()

  const reviewerPage = await newPage(t, PHONE)
  await reviewerPage.goto(`${app.url}/verify/${session.id}#token=${await getReviewToken(session)}`)
  await reviewerPage.getByRole('button', { name: 'Show wall.png' }).click()
  const photo = reviewerPage.getByRole('img', { name: 'wall.png' })
  await photo.waitFor()
  assert.equal(await photo.evaluate((image: any) => image.decode().then(() => image.naturalWidth)), 1)
  const downloading = reviewerPage.waitForEvent('download')
  await reviewerPage.getByRole('button', { name: 'Download certificate.pdf' }).click()
  assert.equal((await downloading).suggestedFilename(), 'certificate.pdf')
  await checkSizes(reviewerPage, 'reviewer-files')

  const consolePage = await openConsolePage(t, app)
  await consolePage.goto(`${app.url}/console/${orgId}/live/verifications/${session.id}`)
  await consolePage.getByRole('button', { name: 'Show wall.png' }).click()
  await consolePage.getByRole('img', { name: 'wall.png' }).waitFor()
  await checkPage(consolePage, 'verification-files')
})

test('a student takes an assessment in Hindi, one question at a time, and resumes it after a reload', async (t) => {
  const { app, openPreparedSession } = await startVerification(t)
  runClock(t, app.clock)
  const { token } = await openPreparedSession('assessment', { skills: [BRICKLAYING, PLASTERING] })
  const page = await newPage(t, { ...PHONE, width: 360, locale: 'hi-IN' })
  await openStudentPage(page, `${app.url}/session#token=${token}`, 'मैंने यह पढ़ लिया है और सहमत हूँ')

  await saveScreenshot(page, 'student-phone-ready')
  await page.getByRole('button', { name: 'शुरू करें' }).click()
  const total = 10
  for (let number = 1; number <= total; number++) {
    await page.getByText(`सवाल ${number}/${total}`).waitFor()
    if (number === 2) {
      assert.match(await page.getByRole('heading', { level: 1 }).innerText(), /[\u0900-\u097f]/) // in Hindi, the browser's language
      await saveScreenshot(page, 'student-phone-question')
      await assertAccessible(page)
    }
    await page.getByRole('radio').first().click()
    if (number === 3) {
      await page.reload()
      await page.getByText('सवाल 4/10').waitFor() // resumes at the same question
      continue
    }
    await page.getByRole('button', { name: number === total ? 'पूरा करें' : 'अगला' }).click()
  }
  await page.getByRole('button', { name: 'मेरे जवाब जमा करें' }).dblclick()
  await page.getByText('पास होने के लिए 70 % चाहिए').waitFor()
  await saveScreenshot(page, 'student-phone-score')
  await assertAccessible(page)
})

test('the result shows which skills passed, which need more evidence, and what to do next', async (t) => {
  const { app, openPreparedSession } = await startTestVerification(t)
  const { token } = await openPreparedSession('assessment', {
    skills: [BRICKLAYING, PLASTERING, WIRING],
    student: { email: 'pass@test.attestry.example' },
  })
  const page = await newPage(t, PHONE)
  await openStudentPage(page, `${app.url}/session#token=${token}`)
  await page.getByText('Five questions per skill').waitFor()
  await page.getByRole('button', { name: 'Start' }).click()
  // In test mode the first option is right: all answers about the first skill, 4 of 5 about the second, none about the third.
  await answerQuestions(page, 15, (number) => number < 5 || (number > 5 && number < 10))
  await page.getByRole('heading', { name: 'Not passed this time' }).waitFor()
  await skillRow(page, 'Bricklaying').getByText('5 of 5 correct · passed').waitFor()
  await skillRow(page, 'Cement plastering').getByText('4 of 5 correct · not enough evidence').waitFor()
  await skillRow(page, 'House wiring').getByText('0 of 5 correct · not passed').waitFor()
  await page.getByText('your answers show neither that you have the skill nor that it is missing').waitFor()
  await page.getByText('You can try 2 more times').waitFor()
  await checkSizes(page, 'student-result-mixed')

  await page.getByRole('button', { name: 'Try again with new questions' }).click()
  await answerQuestions(page, 10, (number) => number < 8) // the passed skill is not asked about again
  await page.getByRole('heading', { name: 'Passed' }).waitFor()
  await skillRow(page, 'Bricklaying').getByText('passed', { exact: true }).waitFor()
  await skillRow(page, 'Cement plastering').getByText('5 of 5 correct · passed').waitFor()
  await page.getByText('Skills that did not pass are not verified').waitFor()
  await page.getByRole('region', { name: 'Summary of your result' }).getByText('Asha Rao').waitFor()
  await checkSizes(page, 'student-result-passed')
  await page.reload()
  await page.getByRole('heading', { name: 'Passed' }).waitFor()
  await page.getByText(/ has received your result\. You do not need to do anything else\.$/).waitFor()
})

test('a clock shows the time left, is announced at few moments, and submits the answers before the end', async (t) => {
  const { app, openPreparedSession } = await startTestVerification(t)
  const { token } = await openPreparedSession('assessment', {
    skills: [BRICKLAYING],
    student: { email: 'pass@test.attestry.example' },
  })
  const page = await newPage(t, PHONE)
  await openStudentPage(page, `${app.url}/session#token=${token}`)
  await page.getByText('If this page is open when the time ends, your answers are submitted.').waitFor()
  await page.getByRole('button', { name: 'Start' }).click()
  const timer = page.getByRole('timer')
  await timer.getByText('60 minutes left').waitFor()
  const announcement = page.locator('p:has([role=timer]) [aria-live=polite]')
  assert.equal(await announcement.innerText(), '')
  app.clock.advance(52 * 60_000)
  await page.reload()
  await timer.getByText('8 minutes left').waitFor()
  assert.equal(await announcement.innerText(), 'Less than 10 minutes left')
  await checkSizes(page, 'student-time-left')
  for (let number = 1; number <= 5; number++) {
    await page.getByRole('radio').first().click()
    if (number < 5) await page.getByRole('button', { name: 'Next' }).click()
  }
  const headers = { 'x-session-token': token }
  const resumed = await expectOk(app.fetch('/api/v1/assessment/generate', { method: 'POST', headers }))
  app.clock.advance((resumed.body.data.secondsLeft - 33) * 1000)
  await page.reload()
  await timer.getByText('Less than a minute left').waitFor()
  await page.getByRole('heading', { name: 'Passed' }).waitFor() // nobody has pressed a button
})

/** Makes the page believe that it was hidden or shown. */
async function setHidden(page: Page, hidden: boolean) {
  await page.evaluate((isHidden) => {
    const { document } = globalThis as any
    Object.defineProperty(document, 'hidden', { configurable: true, value: isHidden })
    document.dispatchEvent(new Event('visibilitychange'))
  }, hidden)
}

test('the time left follows the server, and a page that is hidden near the end submits the answers', async (t) => {
  const { app, openPreparedSession } = await startTestVerification(t)
  const { token, id } = await openPreparedSession('assessment', { skills: [BRICKLAYING] })
  const countAttempts = async () => {
    const query = 'select count(*)::int as n from verification_attempts where verification_id = $1'
    return (await app.context.db.pool.query(query, [id])).rows[0].n
  }
  const page = await newPage(t, PHONE)
  await openStudentPage(page, `${app.url}/session#token=${token}`)
  await page.getByRole('button', { name: 'Start' }).click()
  const timer = page.getByRole('timer')
  await timer.getByText('60 minutes left').waitFor()
  await page.getByRole('radio').first().click()
  app.clock.advance(30 * 60_000)
  await page.evaluate(() => {
    const { now } = Date
    Date.now = () => now() + 7_200_000 // the clock of the phone is corrected
  })
  await setHidden(page, true)
  await setHidden(page, false)
  await timer.getByText('30 minutes left').waitFor()
  app.clock.advance(29 * 60_000)
  await setHidden(page, false)
  await timer.getByText('Less than a minute left').waitFor()
  await page.route('**/assessment/submit', (route) => route.abort(), { times: 1 })
  await setHidden(page, true)
  await page.getByRole('alert').getByText('No connection').waitFor()
  await page.getByRole('heading', { name: 'Not passed this time' }).waitFor() // submitted by the second try
  await setHidden(page, false)

  await page.getByRole('button', { name: 'Try again with new questions' }).click()
  await timer.getByText('60 minutes left').waitFor()
  await page.getByRole('radio').first().click()
  app.clock.advance(61 * 60_000)
  await setHidden(page, false)
  await page.getByRole('alert').getByText('The 60 minutes ended').waitFor()
  assert.equal(await countAttempts(), 2, 'the page does not start another attempt')
  const draft = await page.evaluate((key) => localStorage.getItem(key), `attestry answers ${id}`)
  assert.match(draft!, /Q_/)
})

test('answers are not submitted automatically without an answer, or if the server does not report the time', async (t) => {
  const { app, openPreparedSession } = await startTestVerification(t)
  const { token } = await openPreparedSession('assessment', { skills: [BRICKLAYING] })
  const page = await newPage(t, PHONE)
  let submissions = 0
  page.on('request', (request) => {
    if (request.url().endsWith('/assessment/submit')) submissions++
  })
  await openStudentPage(page, `${app.url}/session#token=${token}`)
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByText('Question 1 of 5').waitFor()
  app.clock.advance(60 * 60_000 - 20_000)
  await page.reload()
  await page.getByRole('timer').getByText('Less than a minute left').waitFor()
  await page.waitForTimeout(1500)
  await omitFields(page, ['secondsLeft'])
  await page.reload()
  await page.getByText('Question 1 of 5').waitFor()
  await page.getByRole('radio').first().click()
  await page.waitForTimeout(1500)
  assert.equal(await page.getByRole('timer').count(), 0)
  assert.equal(submissions, 0)
})

test('the page works with a server before an upgrade, which reports neither files nor the organisation', async (t) => {
  const { app, openSession, storeSkills, chooseMethod } = await startVerification(t)
  const session = await openSession()
  await expectOk(storeSkills(session))
  await expectOk(chooseMethod(session, 'human'))
  const page = await newPage(t, PHONE)
  await omitFields(page, ['proofFiles', 'organisationName'])
  await page.goto(`${app.url}/session#token=${session.token}`)
  const agree = page.getByRole('button', { name: 'I have read this and agree' })
  await agree.waitFor()
  assert.doesNotMatch(await page.locator('main').innerText(), /undefined/)
  await agree.click()
  await page.getByRole('checkbox', { name: /^Fabricator/ }).click()
  assert.doesNotMatch(await page.locator('main').innerText(), /undefined|Add a photo or file/)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByLabel('Their name').waitFor()
})

test('a student whose reviewer declined can keep a summary of the result', async (t) => {
  const calls = await startVerification(t)
  const { session, token } = await calls.requestReview({ student: { returnUrl: 'https://college.example/done' } })
  await expectOk(calls.submitReview(session, token, { declined: true, reason: 'I do not know them.' }))
  const page = await newPage(t, PHONE)
  await page.goto(`${calls.app.url}/session#token=${session.token}`)
  await page.getByRole('heading', { name: 'Your reviewer declined' }).waitFor()
  const { organisationName } = (await calls.app.fetch(`/api/v1/verify/${session.token}`)).body.data
  const returnLink = page.getByRole('link', { name: `Return to ${organisationName}` })
  assert.equal(await returnLink.getAttribute('href'), 'https://college.example/done')
  const summary = page.getByRole('region', { name: 'Summary of your result' })
  const facts = await summary.getByRole('definition').allInnerTexts()
  assert.deepEqual([facts[0], facts.at(-1)], ['not confirmed', session.id])
  assert.ok(facts.includes('Asha Rao'))
  await page.evaluate('window.print = () => (document.title = "printed")')
  await summary.getByRole('button', { name: 'Print or save as PDF' }).click()
  assert.equal(await page.title(), 'printed')
  await checkSizes(page, 'student-declined')
  await page.emulateMedia({ media: 'print' })
  assert.equal(await summary.getByRole('button').isVisible(), false)
  assert.ok(await summary.getByText('not confirmed').isVisible())
})

test('a high score without a passed skill is explained', async (t) => {
  const { app, openPreparedSession } = await startTestVerification(t)
  const { token } = await openPreparedSession('assessment', {
    skills: [PLASTERING],
    student: { email: 'inconclusive@test.attestry.example' },
  })
  const page = await newPage(t, PHONE)
  await openStudentPage(page, `${app.url}/session#token=${token}`)
  await page.getByRole('button', { name: 'Start' }).click()
  await answerQuestions(page, 5, (number) => number > 0)
  await page.getByRole('heading', { name: 'Not enough evidence yet' }).waitFor()
  await page.getByText('80 % correct. The pass mark is 70 %.').waitFor()
  await page.getByText('at least one skill must pass too').waitFor()
  await assertAccessible(page)
  await saveScreenshot(page, 'student-result-inconclusive')
})

test('skills without questions are named after the method is chosen, after a reload, and in the result', async (t) => {
  const { app, openSession } = await startTestVerification(t)
  const unmeasured = await findUnmeasuredSkill(app)
  const { token } = await openSession({ email: 'pass@test.attestry.example' })
  const page = await newPage(t, PHONE)
  await openStudentPage(page, `${app.url}/session#token=${token}`)
  await chooseSkill(page, unmeasured)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('radio', { name: /I answer questions/ }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('alert').getByText('There are too few questions about these skills.').waitFor()
  await saveScreenshot(page, 'student-no-skill-assessable')
  await page.getByRole('button', { name: 'Back' }).click()
  await chooseSkill(page, 'Bricklaying')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('radio', { name: /I answer questions/ }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  const notice = page.getByRole('status').getByText(`There are too few questions about ${unmeasured}.`)
  await notice.waitFor()
  await checkSizes(page, 'student-not-assessable')
  await page.reload()
  await page.getByRole('checkbox', { name: /^Fabricator/ }).click()
  await notice.waitFor()
  await checkSizes(page, 'student-not-assessable-items')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Start' }).waitFor()
  await page.reload()
  await notice.waitFor()
  await page.getByRole('button', { name: 'Start' }).click()
  await answerQuestions(page, 5, () => true)
  await page.getByRole('heading', { name: 'Passed' }).waitFor()
  await skillRow(page, unmeasured).getByText('not asked: too few questions').waitFor()
  await saveScreenshot(page, 'student-result-not-asked')
})

test('the page shows how well the confirmation supports the skills, and why', async (t) => {
  const calls = await startVerification(t)
  const { session, token } = await calls.requestReview({ reviewer: { email: 'ravi@gmail.com' } })
  await expectOk(calls.submitReview(session, token, { decisions: [{ skillId: BRICKLAYING, endorsed: true }] }))
  const page = await newPage(t, PHONE)
  await page.goto(`${calls.app.url}/session#token=${session.token}`)
  await page.getByRole('heading', { name: 'Your skills are verified' }).waitFor()
  await page.getByText(/How well this confirmation supports your skills: weak/).waitFor()
  assert.deepEqual(await page.getByRole('main').getByRole('listitem').allTextContents(), [
    'Your reviewer uses a mail service where anyone can open a mailbox.',
    'Your reviewer is your manager, mentor, client or teacher.',
    'Your reviewer answered within two minutes of the email.',
  ])
  await assertAccessible(page)
  await saveScreenshot(page, 'student-phone-evidence')
})

test('an expired link shows that the session has expired', async (t) => {
  const app = await startApp(t)
  const page = await newPage(t, { width: 1280, height: 800 })
  await page.goto(`${app.url}/session#token=vst_nothing`)
  await page.getByRole('heading', { name: 'This page has expired' }).waitFor()
  await saveScreenshot(page, 'student-desktop-ended')
  await assertAccessible(page)
})

test('the link of an erased student shows that the data was erased', async (t) => {
  const { app, openSession, scope, call } = await startVerification(t)
  const session = await openSession()
  await app.context.db.transaction(async (tx) => {
    const { personId } = (await findVerification(tx, app.clock, session.id))!
    await erasePerson(tx, app.context, scope, personId, { basis: 'GDPR Article 17', requestedBy: 'the person' })
  })
  const response = await call('GET', `/verify/${session.token}`)
  assert.deepEqual([response.status, response.body.error.code], [410, 'DATA_ERASED'])
  const page = await newPage(t, { width: 320, height: 640 })
  await page.goto(`${app.url}/session#token=${session.token}`)
  await page.getByRole('heading', { name: 'Your data was erased' }).waitFor()
  await assertAccessible(page)
})

test('the token leaves the address bar, a reload still works, and another link replaces the session', async (t) => {
  const { app, openSession } = await startVerification(t)
  const [firstSession, secondSession] = [
    await openSession(),
    await openSession({ externalStudentId: 'stu-2', name: 'Meera Iyer' }),
  ]
  const page = await newPage(t, { width: 1280, height: 800 })
  const heading = page.getByRole('heading', { name: 'Which skills do you want verified?' })
  const requestedTokens: string[] = []
  page.on('request', (request) =>
    requestedTokens.push(...(/\/verify\/(vst_[^/]+)$/.exec(request.url())?.slice(1) ?? [])),
  )
  await openStudentPage(page, `${app.url}/session#token=${firstSession.token}`)
  await heading.waitFor()
  assert.equal(page.url(), `${app.url}/session`)
  await page.reload()
  await heading.waitFor()
  assert.equal(page.url(), `${app.url}/session`)
  await page.goto(`${app.url}/session#token=${secondSession.token}`)
  await until(() => requestedTokens.includes(secondSession.token))
  await until(() => page.url() === `${app.url}/session`)
  assert.deepEqual(new Set(requestedTokens), new Set([firstSession.token, secondSession.token]))

  const otherPage = await newPage(t, { width: 1280, height: 800 })
  await otherPage.goto(`${app.url}/session`)
  await otherPage.getByRole('heading', { name: 'This page has expired' }).waitFor() // the token stays in its tab
})

test('the page does not continue until the notice is loaded and the student has agreed', async (t) => {
  const { app, openSession } = await startVerification(t)
  runClock(t, app.clock)
  const { token } = await openSession()
  const page = await newPage(t, PHONE)
  await page.route('**/your-data/session?*', (route) => route.abort())
  await page.goto(`${app.url}/session#token=${token}`)
  await page.getByText('No connection.').waitFor()
  assert.equal(await page.getByRole('heading', { name: 'Which skills do you want verified?' }).count(), 0)
  await page.unroute('**/your-data/session?*')
  await page.getByRole('button', { name: 'Try again' }).click()
  const languages = page.getByRole('combobox', { name: 'Your data and your rights' })
  await languages.waitFor()
  assert.equal(await languages.getByRole('option').count(), 12)
  await languages.selectOption('ta')
  await page.getByRole('heading', { name: 'உங்கள்' }).first().waitFor()
  await page.getByRole('combobox').selectOption('en')
  await page.getByRole('button', { name: 'I have read this and agree' }).click()
  await page.getByRole('heading', { name: 'Which skills do you want verified?' }).waitFor()
  assert.equal(new URL(page.url()).hash, '', 'the token leaves the address')
})

test('a student below 18 continues after a parent or guardian has agreed', async (t) => {
  const { app, orgId, openSession } = await startVerification(t)
  runClock(t, app.clock)
  const owner = await signInMember(app, orgId, 'owner')
  await owner.put(`/orgs/${orgId}/privacy`, { minors: 'guardian_consent' })
  const { token } = await openSession()
  const page = await newPage(t, PHONE)
  await openStudentPage(page, `${app.url}/session#token=${token}`)
  await page.getByLabel('Age in years').fill('16')
  await checkSizes(page, 'student-age')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByLabel('Name of your parent or guardian').fill('Lata Rao')
  await page.getByLabel('Their email address').fill('lata@example.com')
  await checkSizes(page, 'student-guardian')
  await page.getByRole('button', { name: 'Send the email' }).click()
  await page.getByRole('heading', { name: 'Enter the code of your parent or guardian' }).waitFor()
  await page.getByLabel('Code', { exact: true }).fill('000000')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('This code is wrong or has expired.').waitFor()
  await checkSizes(page, 'student-guardian-code')
  await page.getByLabel('Code', { exact: true }).fill(await readEmailCode(app, 'lata@example.com'))
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('heading', { name: 'Which skills do you want verified?' }).waitFor()
})
