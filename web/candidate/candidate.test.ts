import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { changeBranding } from '../../server/branding/branding.ts'
import type { ConversationState } from '../../server/conversation/state.ts'
import type { MandateInput } from '../../server/mandates/schema.ts'
import { assertAccessible } from '../../test/browser/axe.ts'
import { newPage } from '../../test/browser/browser.ts'
import { saveScreenshot } from '../../test/browser/screenshots.ts'
import { startApp } from '../../test/support/app.ts'
import { inviteCandidate } from '../../test/support/candidate.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { runClock } from '../../test/support/clock.ts'
import { until } from '../../test/support/until.ts'

const PHONE = { width: 320, height: 640, hasTouch: true, isMobile: true }
const LARGE_PHONE = { ...PHONE, width: 390, height: 844 }
const ERASURE = { basis: 'GDPR Article 17', requested_by: 'data subject, ticket 4711' }
const LANGUAGES = { languages: ['en', 'hi'] as ('en' | 'hi')[] }
/** Returns mandate input with questions about this number of skills, in addition to the two default questions and the interest question. */
const mandateWithSkills = (skills: number): Partial<MandateInput> => ({
  skills: ['sk_2001', 'sk_2005'].slice(0, skills).map((skill_id) => ({ skill_id, verify: true })),
})
const HINDI = { workflow: LANGUAGES, mandate: mandateWithSkills(1), candidate: { language: 'hi', name: 'आशा वर्मा' } }
/** Maximum total size of all compressed responses of a first visit, including headers. */
const MAX_FIRST_VISIT_BYTES = 40 * 1024

/** Waits until the newest question can be answered, and returns its text. */
async function waitForQuestion(page: Page): Promise<string> {
  await page.locator('.answers [aria-disabled="false"]').first().waitFor()
  return (await page.locator('.log .us').last().textContent())!
}

/** Answers the newest question with a button, and waits for the next question or the end of the conversation. */
async function answerWith(page: Page, label: string) {
  const previousQuestion = await waitForQuestion(page)
  await page.locator('.answers').getByRole('button', { name: label, exact: true }).click()
  await page.locator('.log .us').last().getByText(previousQuestion, { exact: true }).waitFor({ state: 'hidden' })
}

/** Waits until all answers are sent. */
const waitUntilAllSent = (page: Page) => until(async () => (await page.locator('.pending').count()) === 0)

/** Returns the answers about each skill. */
const choicesIn = ({ skills }: ConversationState) => skills.map((form) => form.flatMap(({ choice }) => choice ?? []))

const optionButtons = (page: Page) => page.locator('.answers .list button')

const startSharedApp = oncePerFile(async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  return app
})

test('a candidate completes a conversation in Hindi on a small phone, and answers given offline are sent later', async (t) => {
  const app = await startSharedApp()
  const { link, getCandidacy } = await inviteCandidate(app, { ...HINDI, mandate: mandateWithSkills(2) })
  const page = await newPage(t, PHONE)
  await page.goto(link)
  assert.match(await waitForQuestion(page), /नमस्ते आशा वर्मा/)
  assert.equal(await page.evaluate('document.documentElement.lang'), 'hi')
  await saveScreenshot(page, 'candidate-320-consent', false)
  await answerWith(page, 'हाँ')
  await answerWith(page, 'हाँ')
  await waitForQuestion(page)
  await saveScreenshot(page, 'candidate-320-words', false)
  await assertAccessible(page)

  await page.context().setOffline(true)
  await page.getByRole('button', { name: 'भेजें', exact: true }).tap() // nothing to send yet
  assert.ok(await page.evaluate("document.activeElement.matches('textarea')"))
  await page.getByRole('textbox').fill('अगले सोमवार से')
  await page.getByRole('button', { name: 'भेजें', exact: true }).tap()
  const asked: string[] = []
  // The first four questions about a skill follow whatever the answers are. The next one depends on them.
  for (const number of [0, 1, 2, 3]) {
    asked.push(await waitForQuestion(page))
    await optionButtons(page).nth(number).tap()
  }
  await page.getByText('इंटरनेट नहीं है।').waitFor()
  await saveScreenshot(page, 'candidate-320-offline', false)
  await assertAccessible(page)
  assert.equal(new Set(asked).size, 4)
  assert.deepEqual(choicesIn((await getCandidacy()).state), [[], []])

  await page.context().setOffline(false)
  await waitUntilAllSent(page)
  const { state } = await getCandidacy()
  assert.deepEqual(state.enrichment, ['yes', 'अगले सोमवार से'])
  assert.deepEqual(choicesIn(state), [[0, 1, 2, 3], []])

  await waitForQuestion(page)
  await saveScreenshot(page, 'candidate-320-choices', false)
  for (let question = await waitForQuestion(page); !question.includes('नौकरी करना चाहेंगे'); ) {
    await optionButtons(page).nth(0).tap()
    await page.locator('.log .us').last().getByText(question, { exact: true }).waitFor({ state: 'hidden' })
    question = await waitForQuestion(page)
  }
  await answerWith(page, 'हाँ')
  await page.getByText('धन्यवाद आशा वर्मा। सवाल पूरे हुए।').waitFor()
  await saveScreenshot(page, 'candidate-320-thanks', false)
  await assertAccessible(page)
  assert.ok(
    await page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
    'the page has no horizontal overflow',
  )
  const endedCandidacy = await getCandidacy()
  assert.equal(endedCandidacy.status, 'completed')
  const [first, second] = choicesIn(endedCandidacy.state)
  assert.deepEqual(first!.slice(0, 4), [0, 1, 2, 3])
  for (const choices of [first!, second!]) assert.ok(choices.length >= 4 && choices.length <= 8, `${choices.length}`)
})

test('a conversation continues on another device and in another language, and only the first answer to a question counts', async (t) => {
  const app = await startSharedApp()
  const { link, getCandidacy } = await inviteCandidate(app, { workflow: LANGUAGES, mandate: mandateWithSkills(1) })
  const phone = await newPage(t, LARGE_PHONE)
  await phone.goto(link)
  await answerWith(phone, 'Yes')
  assert.equal(await waitForQuestion(phone), 'Which language would you like to use?')
  await saveScreenshot(phone, 'candidate-390-language', false)
  await answerWith(phone, 'English')
  await answerWith(phone, 'Yes')
  await answerWith(phone, 'Back') // a correction
  assert.equal(await waitForQuestion(phone), 'Do you hold a wireman licence?')
  await answerWith(phone, 'Yes')
  await answerWith(phone, 'Skip')
  await waitForQuestion(phone)
  await saveScreenshot(phone, 'candidate-390-choices', false)
  await optionButtons(phone).nth(2).click()
  const currentQuestion = await waitForQuestion(phone)

  const desktop = await newPage(t, { width: 1280, height: 800, colorScheme: 'dark' })
  await desktop.goto(link)
  assert.equal(await waitForQuestion(desktop), currentQuestion)
  assert.equal(await desktop.locator('.log .you').count(), 5)
  assert.equal(await desktop.locator('.log .you').nth(2).textContent(), 'Your answer: Yes')
  await desktop.getByRole('combobox', { name: 'Change language' }).selectOption({ label: 'हिन्दी' })
  await desktop.getByRole('combobox', { name: 'भाषा बदलें' }).waitFor()
  assert.equal(await desktop.evaluate('document.documentElement.lang'), 'hi')
  assert.notEqual(await waitForQuestion(desktop), currentQuestion)
  await saveScreenshot(desktop, 'candidate-desktop-dark', false)
  await desktop.emulateMedia({ colorScheme: 'light' })
  await saveScreenshot(desktop, 'candidate-desktop', false)
  await assertAccessible(desktop)
  await optionButtons(desktop).nth(1).focus()
  await desktop.keyboard.press('Enter')
  await desktop.getByText('7 में से 5').waitFor()
  const nextQuestion = await waitForQuestion(desktop)
  assert.ok(
    await desktop.evaluate("document.activeElement.matches('.answers')"),
    'the focus moves to the answers of the next question',
  )

  await optionButtons(phone).nth(3).click() // already answered on the other device
  await phone.getByRole('combobox', { name: 'भाषा बदलें' }).waitFor()
  assert.equal(await waitForQuestion(phone), nextQuestion)
  const { state } = await getCandidacy()
  assert.deepEqual([state.enrichment, choicesIn(state), state.language], [['yes', null], [[2, 1]], 'hi'])
})

test('an answer whose response was lost counts once, and unsent answers survive a reload', async (t) => {
  const app = await startSharedApp()
  const { link, token, getCandidacy } = await inviteCandidate(app, { mandate: mandateWithSkills(1) })
  const page = await newPage(t, PHONE)
  await page.goto(link)
  await answerWith(page, 'Yes')
  await answerWith(page, 'Yes')
  await answerWith(page, 'Skip')
  let loseResponses = true
  await page.route('**/reply', async (route) => {
    if (!loseResponses) return route.continue()
    const body = route.request().postData()!
    const headers = { 'content-type': 'application/json' }
    await app.fetch(`/api/v1/candidate/${token}/reply`, { method: 'POST', headers, body })
    await route.abort()
  })
  await waitForQuestion(page)
  await optionButtons(page).nth(1).dblclick() // the second click hits the next question and must be ignored
  await waitForQuestion(page)
  await optionButtons(page).nth(2).tap()
  await page.getByText('You are offline').waitFor()
  await page.getByRole('button', { name: 'Try again' }).tap()
  await page.reload()
  await waitForQuestion(page)
  assert.equal(await page.locator('.pending').count(), 1)
  await page.getByText('You are offline').waitFor()
  loseResponses = false
  await page.evaluate("dispatchEvent(new Event('online'))")
  await waitUntilAllSent(page)
  assert.deepEqual(choicesIn((await getCandidacy()).state), [[1, 2]])
})

test('the page shows why a conversation ended: knockout, declined consent, STOP, archived campaign or unknown link', async (t) => {
  const app = await startSharedApp()
  const knockedOut = await inviteCandidate(app, { mandate: mandateWithSkills(1) })
  const page = await newPage(t, LARGE_PHONE)
  await page.goto(knockedOut.link)
  await answerWith(page, 'Yes')
  await waitForQuestion(page)
  await page.getByRole('button', { name: 'No', exact: true }).dblclick()
  await page.getByText('This job has different requirements').waitFor()
  await saveScreenshot(page, 'candidate-390-knockout', false)
  assert.deepEqual(
    [(await knockedOut.getCandidacy()).status, (await knockedOut.getCandidacy()).state.ending],
    ['completed', 'knocked_out'],
  )

  const declining = await inviteCandidate(app, { mandate: mandateWithSkills(1) })
  await page.goto(declining.link)
  await answerWith(page, 'No')
  await page.getByText('All right, we will not ask you any questions.').waitFor()
  assert.equal((await declining.getCandidacy()).reason, 'refused')

  const stopping = await inviteCandidate(app, { mandate: mandateWithSkills(1) })
  await page.goto(stopping.link)
  await answerWith(page, 'Yes')
  await page.getByRole('button', { name: 'Stop sending me messages' }).click()
  await page.getByRole('group', { name: 'Do you really want to stop getting messages?' }).waitFor()
  await saveScreenshot(page, 'candidate-390-stop', false)
  await assertAccessible(page)
  await page.locator('footer').getByRole('button', { name: 'No' }).click()
  await page.getByRole('button', { name: 'Stop sending me messages' }).click()
  await page.locator('footer').getByRole('button', { name: 'Yes' }).click()
  await page.getByText('You will not get any more messages from us.').waitFor()
  await until(async () => (await page.evaluate('localStorage.length')) === 0)
  assert.equal((await stopping.getCandidacy()).reason, 'stopped')
  await page.reload()
  await page.getByText('You will not get any more messages from us.').waitFor()
  assert.equal(await page.getByRole('button').count(), 0)

  const archived = await inviteCandidate(app, { mandate: mandateWithSkills(1) })
  await archived.partner.remove(`/campaigns/${archived.campaign_id}`)
  await page.goto(archived.link)
  await page.locator('#root').getByText('This link has expired').waitFor()
  await page.getByRole('heading', { name: 'Electrician' }).waitFor()
  await page.locator('#root').getByText('If you have questions, please ask Metro Ltd.').waitFor()
  await page.getByRole('link', { name: 'Your data and your rights' }).waitFor()
  await saveScreenshot(page, 'candidate-390-closed', false)
  await assertAccessible(page)

  const unknownLink = await app.fetch('/c/nothing', { headers: { 'accept-language': 'xx, ta-IN;q=0.8' } })
  assert.equal(unknownLink.status, 404)
  assert.match(unknownLink.body, /<html lang="ta">/)
  assert.match(unknownLink.headers.get('content-security-policy')!, /default-src 'none'/)
  await page.goto(`${app.url}/c/nothing`)
  await page.locator('#root').getByText('This link does not work.').waitFor()
  await page.locator('#root').getByText('ask the company that sent you the message').waitFor()
  await saveScreenshot(page, 'candidate-390-unknown', false)
  await assertAccessible(page)
})

test('an expired link shows the branding and the contact of the organisation in the language of the candidate, and is small', async (t) => {
  const app = await startSharedApp()
  const candidate = await inviteCandidate(app, {
    ...HINDI,
    candidate: { language: 'hi' },
  })
  const branding = { display_name: 'Metro Careers', colour: '#7a1f5c', reply_to: 'jobs@metro.example' }
  await app.context.db.transaction((tx) => changeBranding(tx, app.clock, candidate.partner.orgId, branding))
  await candidate.partner.remove(`/campaigns/${candidate.campaign_id}`)
  const page = await newPage(t, PHONE)
  let bytes = 0
  page.on('requestfinished', async (request) => {
    const { responseBodySize, responseHeadersSize } = await request.sizes()
    bytes += responseBodySize + responseHeadersSize
  })
  const response = await page.goto(candidate.link)
  assert.equal(response!.status(), 410)
  await page.locator('#root').getByText('यह लिंक अब नहीं चलता').waitFor()
  assert.equal(await page.locator('html').getAttribute('lang'), 'hi')
  await page.getByText('Metro Ltd · Metro Careers').waitFor()
  const contact = page.getByRole('link', { name: 'jobs@metro.example' })
  assert.equal(await contact.getAttribute('href'), 'mailto:jobs@metro.example')
  await assertAccessible(page)
  await saveScreenshot(page, 'candidate-360-expired-hi', false)
  assert.ok(bytes > 0 && bytes < 20_000, `${bytes} bytes`)

  const erased = await inviteCandidate(app, { mandate: mandateWithSkills(1) })
  await app.context.db.transaction((tx) => changeBranding(tx, app.clock, erased.partner.orgId, branding))
  const { person_id } = await erased.getCandidacy()
  const { status } = await erased.partner.post(`/people/${person_id}/erase`, ERASURE)
  assert.equal(status, 200)
  await page.goto(erased.link)
  await page.locator('#root').getByText('The data of this link was erased.').waitFor()
  await page.getByText('Metro Careers').waitFor()
  assert.equal(await page.getByText('Electrician').count(), 0)
})

test('the page is small, contains the first question, and never contains correct answers or the token', async (t) => {
  const app = await startSharedApp()
  const maliciousHtml = `</script><img src=x onerror="document.title='owned'">`
  const { link, token } = await inviteCandidate(app, { ...HINDI, candidate: { language: 'hi', name: maliciousHtml } })
  const html = await app.fetch(new URL(link).pathname)
  assert.match(html.body, /<p class="message us" dir="auto">नमस्ते/)
  assert.equal(html.headers.get('cache-control'), 'no-store')
  assert.equal(html.headers.get('referrer-policy'), 'no-referrer')

  const page = await newPage(t, PHONE)
  const sizes: Promise<number>[] = []
  const bodies: Promise<string>[] = []
  page.on('requestfinished', (request) => {
    sizes.push(
      request.sizes().then(({ responseBodySize, responseHeadersSize }) => responseBodySize + responseHeadersSize),
    )
    if (!request.url().includes('/assets/')) bodies.push(request.response().then((response) => response!.text()))
  })
  await page.goto(link)
  assert.ok((await waitForQuestion(page)).includes(maliciousHtml.slice(0, 20)))
  assert.equal(await page.locator('img').count(), 0)
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  t.diagnostic(`${sizes.length} requests, ${bytes} bytes`)
  assert.ok(bytes < MAX_FIRST_VISIT_BYTES, `${bytes} bytes`)
  assert.ok(sizes.length <= 7, `${sizes.length} requests`)

  await answerWith(page, 'हाँ')
  await answerWith(page, 'हाँ')
  await answerWith(page, 'छोड़ें')
  await waitForQuestion(page)
  await optionButtons(page).nth(0).tap()
  await waitUntilAllSent(page)
  bodies.push(app.fetch(`/api/v1/candidate/${token}`).then(({ body }) => JSON.stringify(body)))
  bodies.push(app.fetch(new URL(link).pathname).then(({ body }) => body))
  for (const body of await Promise.all(bodies))
    assert.doesNotMatch(body, /"(key|correct|verdict|verdicts|knockout|item_id|token)"/)
  assert.ok(!app.logLines.some((line) => line.includes(token)))

  const responses = await Promise.all(Array.from({ length: 40 }, () => app.fetch(new URL(link).pathname)))
  const rateLimited = responses.find(({ status }) => status === 429)!
  assert.match(rateLimited.headers.get('content-type')!, /text\/html/)
  assert.match(rateLimited.body, /That did not work/)
})

test('an answer can be spoken if the browser supports speech recognition, and typed otherwise', async (t) => {
  const app = await startSharedApp()
  const { link, getCandidacy } = await inviteCandidate(app, HINDI)
  const page = await newPage(t, PHONE)
  await page.addInitScript(`window.SpeechRecognition = class {
    start() { window.recognition = this }
    stop() { this.onend() }
  }`)
  await page.goto(link)
  await answerWith(page, 'हाँ')
  await answerWith(page, 'हाँ')
  await page.getByRole('button', { name: 'बोलें', exact: true }).tap()
  assert.equal(await page.evaluate('recognition.lang'), 'hi-IN')
  await page.evaluate("recognition.onresult({ results: [[{ transcript: 'कल' }], [{ transcript: 'से' }]] })")
  await page.evaluate('recognition.onend()')
  await page.getByRole('button', { name: 'बोलें', exact: true, pressed: false }).waitFor()
  assert.equal(await page.getByRole('textbox').inputValue(), 'कल से')
  await page.reload() // the draft survives a reload
  assert.equal(await page.getByRole('textbox').inputValue(), 'कल से')
  await page.getByRole('button', { name: 'भेजें', exact: true }).tap()
  await waitUntilAllSent(page)
  await optionButtons(page).first().waitFor()
  assert.equal((await getCandidacy()).state.enrichment[1], 'कल से')

  const noSpeech = await newPage(t, PHONE)
  await noSpeech.addInitScript('delete window.webkitSpeechRecognition; delete window.SpeechRecognition')
  await noSpeech.goto((await inviteCandidate(app, HINDI)).link)
  await answerWith(noSpeech, 'हाँ')
  await answerWith(noSpeech, 'हाँ')
  await noSpeech.getByRole('textbox').waitFor()
  assert.equal(await noSpeech.getByRole('button', { name: 'बोलें', exact: true }).count(), 0)
})
