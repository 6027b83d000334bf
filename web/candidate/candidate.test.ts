import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { MandateInput } from '../../server/mandates/schema.ts'
import { assertAccessible } from '../../test/browser/axe.ts'
import { newPage } from '../../test/browser/browser.ts'
import { screenshot } from '../../test/browser/screenshots.ts'
import { startApp } from '../../test/support/app.ts'
import { inviteCandidate } from '../../test/support/candidate.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { runClock } from '../../test/support/clock.ts'
import { until } from '../../test/support/until.ts'

const PHONE = { width: 320, height: 640, hasTouch: true, isMobile: true }
const LARGE_PHONE = { ...PHONE, width: 390, height: 844 }
const LANGUAGES = { languages: ['en', 'hi'] as ('en' | 'hi')[] }
/** Returns mandate input with questions about this many skills, in addition to the two default questions and the interest. */
const withSkills = (skills: number): Partial<MandateInput> => ({
  skills: ['sk_2001', 'sk_2005'].slice(0, skills).map((skill_id) => ({ skill_id, verify: true })),
})
const HINDI = { workflow: LANGUAGES, mandate: withSkills(1), candidate: { language: 'hi', name: 'आशा वर्मा' } }
/** Limit for all compressed responses of a first visit, with headers. */
const MAX_FIRST_VISIT_BYTES = 40 * 1024

/** Waits until the newest question can be answered, and returns its text. */
async function question(page: Page): Promise<string> {
  await page.locator('.answers [aria-disabled="false"]').first().waitFor()
  return (await page.locator('.log .us').last().textContent())!
}

/** Answers the newest question with a button, and waits for the next question or the end. */
async function press(page: Page, label: string) {
  const asked = await question(page)
  await page.locator('.answers').getByRole('button', { name: label, exact: true }).click()
  await page.locator('.log .us').last().getByText(asked, { exact: true }).waitFor({ state: 'hidden' })
}

/** Waits until all answers are sent. */
const allSent = (page: Page) => until(async () => (await page.locator('.pending').count()) === 0)

const options = (page: Page) => page.locator('.answers .list button')

const startShared = oncePerFile(async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  return app
})

test('a candidate completes a conversation in Hindi on a small phone, and answers given offline are sent later', async (t) => {
  const app = await startShared()
  const { link, candidacy } = await inviteCandidate(app, { ...HINDI, mandate: withSkills(2) })
  const page = await newPage(t, PHONE)
  await page.goto(link)
  assert.match(await question(page), /नमस्ते आशा वर्मा/)
  assert.equal(await page.evaluate('document.documentElement.lang'), 'hi')
  await screenshot(page, 'candidate-320-consent', false)
  await press(page, 'हाँ')
  await press(page, 'हाँ')
  await question(page)
  await screenshot(page, 'candidate-320-words', false)
  await assertAccessible(page)

  await page.context().setOffline(true)
  await page.getByRole('button', { name: 'भेजें', exact: true }).tap() // nothing to send yet
  assert.ok(await page.evaluate("document.activeElement.matches('textarea')"))
  await page.getByRole('textbox').fill('अगले सोमवार से')
  await page.getByRole('button', { name: 'भेजें', exact: true }).tap()
  const asked: string[] = []
  for (const number of [0, 1, 2, 3]) {
    asked.push(await question(page))
    await options(page).nth(number).tap()
  }
  await question(page)
  await page.getByText('इंटरनेट नहीं है।').waitFor()
  await screenshot(page, 'candidate-320-offline', false)
  await assertAccessible(page)
  assert.equal(new Set(asked).size, 4)
  assert.equal((await candidacy()).state.skills.length, 0)

  await page.context().setOffline(false)
  await allSent(page)
  const { state } = await candidacy()
  assert.deepEqual(state.enrichment, ['yes', 'अगले सोमवार से'])
  assert.deepEqual(state.skills, [[0, 1, 2], [3]])

  for (let number = 4; number < 6; number++) {
    await question(page)
    if (number === 5) await screenshot(page, 'candidate-320-choices', false)
    await options(page).nth(0).tap()
  }
  assert.match(await question(page), /नौकरी करना चाहेंगे/)
  await press(page, 'हाँ')
  await page.getByText('धन्यवाद आशा वर्मा। सवाल पूरे हुए।').waitFor()
  await screenshot(page, 'candidate-320-thanks', false)
  await assertAccessible(page)
  assert.ok(
    await page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
    'the page has no horizontal overflow',
  )
  const ended = await candidacy()
  assert.equal(ended.status, 'completed')
  const chosen = [
    [0, 1, 2],
    [3, 0, 0],
  ]
  assert.deepEqual(ended.state.skills, chosen)
})

test('a conversation continues on another device and in another language, and only the first answer to a question counts', async (t) => {
  const app = await startShared()
  const { link, candidacy } = await inviteCandidate(app, { workflow: LANGUAGES, mandate: withSkills(1) })
  const phone = await newPage(t, LARGE_PHONE)
  await phone.goto(link)
  await press(phone, 'Yes')
  assert.equal(await question(phone), 'Which language would you like to use?')
  await screenshot(phone, 'candidate-390-language', false)
  await press(phone, 'English')
  await press(phone, 'Yes')
  await press(phone, 'Back') // a correction
  assert.equal(await question(phone), 'Do you hold a wireman licence?')
  await press(phone, 'Yes')
  await press(phone, 'Skip')
  await question(phone)
  await screenshot(phone, 'candidate-390-choices', false)
  await options(phone).nth(2).click()
  const current = await question(phone)

  const desktop = await newPage(t, { width: 1280, height: 800, colorScheme: 'dark' })
  await desktop.goto(link)
  assert.equal(await question(desktop), current)
  assert.equal(await desktop.locator('.log .you').count(), 5)
  assert.equal(await desktop.locator('.log .you').nth(2).textContent(), 'Your answer: Yes')
  await desktop.getByRole('combobox', { name: 'Change language' }).selectOption({ label: 'हिन्दी' })
  await desktop.getByRole('combobox', { name: 'भाषा बदलें' }).waitFor()
  assert.equal(await desktop.evaluate('document.documentElement.lang'), 'hi')
  assert.notEqual(await question(desktop), current)
  await screenshot(desktop, 'candidate-desktop-dark', false)
  await desktop.emulateMedia({ colorScheme: 'light' })
  await screenshot(desktop, 'candidate-desktop', false)
  await assertAccessible(desktop)
  await options(desktop).nth(1).focus()
  await desktop.keyboard.press('Enter')
  await desktop.getByText('6 में से 5').waitFor()
  const next = await question(desktop)
  assert.ok(
    await desktop.evaluate("document.activeElement.matches('.answers')"),
    'the focus moves to the answers of the next question',
  )

  await options(phone).nth(3).click() // already answered on the other device
  await phone.getByRole('combobox', { name: 'भाषा बदलें' }).waitFor()
  assert.equal(await question(phone), next)
  const { state } = await candidacy()
  assert.deepEqual([state.enrichment, state.skills, state.language], [['yes', null], [[2, 1]], 'hi'])
})

test('an answer whose response was lost counts once, and unsent answers survive a reload', async (t) => {
  const app = await startShared()
  const { link, token, candidacy } = await inviteCandidate(app, { mandate: withSkills(1) })
  const page = await newPage(t, PHONE)
  await page.goto(link)
  await press(page, 'Yes')
  await press(page, 'Yes')
  await press(page, 'Skip')
  let loseResponses = true
  await page.route('**/reply', async (route) => {
    if (!loseResponses) return route.continue()
    const body = route.request().postData()!
    const headers = { 'content-type': 'application/json' }
    await app.fetch(`/api/v1/candidate/${token}/reply`, { method: 'POST', headers, body })
    await route.abort()
  })
  await question(page)
  await options(page).nth(1).dblclick() // the second click hits the next question and must be ignored
  await question(page)
  await options(page).nth(2).tap()
  await page.getByText('You are offline').waitFor()
  await page.getByRole('button', { name: 'Try again' }).tap()
  await page.reload()
  await question(page)
  assert.equal(await page.locator('.pending').count(), 1)
  await page.getByText('You are offline').waitFor()
  loseResponses = false
  await page.evaluate("dispatchEvent(new Event('online'))")
  await allSent(page)
  assert.deepEqual((await candidacy()).state.skills, [[1, 2]])
})

test('the page shows why a conversation ended: knockout, declined consent, STOP, archived campaign or unknown link', async (t) => {
  const app = await startShared()
  const knockedOut = await inviteCandidate(app, { mandate: withSkills(1) })
  const page = await newPage(t, LARGE_PHONE)
  await page.goto(knockedOut.link)
  await press(page, 'Yes')
  await question(page)
  await page.getByRole('button', { name: 'No', exact: true }).dblclick()
  await page.getByText('This job has different requirements').waitFor()
  await screenshot(page, 'candidate-390-knockout', false)
  assert.deepEqual(
    [(await knockedOut.candidacy()).status, (await knockedOut.candidacy()).state.ending],
    ['completed', 'knocked_out'],
  )

  const declining = await inviteCandidate(app, { mandate: withSkills(1) })
  await page.goto(declining.link)
  await press(page, 'No')
  await page.getByText('All right, we will not ask you any questions.').waitFor()
  assert.equal((await declining.candidacy()).reason, 'refused')

  const stopping = await inviteCandidate(app, { mandate: withSkills(1) })
  await page.goto(stopping.link)
  await press(page, 'Yes')
  await page.getByRole('button', { name: 'Stop sending me messages' }).click()
  await page.getByRole('group', { name: 'Do you really want to stop?' }).waitFor()
  await screenshot(page, 'candidate-390-stop', false)
  await assertAccessible(page)
  await page.locator('footer').getByRole('button', { name: 'No' }).click()
  await page.getByRole('button', { name: 'Stop sending me messages' }).click()
  await page.locator('footer').getByRole('button', { name: 'Yes' }).click()
  await page.getByText('You will not get any more messages from us.').waitFor()
  await until(async () => (await page.evaluate('localStorage.length')) === 0)
  assert.equal((await stopping.candidacy()).reason, 'stopped')
  await page.reload()
  await page.getByText('You will not get any more messages from us.').waitFor()
  assert.equal(await page.getByRole('button').count(), 0)

  const archived = await inviteCandidate(app, { mandate: withSkills(1) })
  await archived.partner.remove(`/campaigns/${archived.campaign_id}`)
  await page.goto(archived.link)
  await page.getByText('This link is no longer valid.').waitFor()
  await screenshot(page, 'candidate-390-closed', false)

  const unknownLink = await app.fetch('/c/nothing', { headers: { 'accept-language': 'xx, ta-IN;q=0.8' } })
  assert.equal(unknownLink.status, 404)
  assert.match(unknownLink.body, /<html lang="ta">/)
  assert.match(unknownLink.headers.get('content-security-policy')!, /default-src 'none'/)
  await page.goto(`${app.url}/c/nothing`)
  await page.locator('#root').getByText('This link does not work.').waitFor()
  await screenshot(page, 'candidate-390-unknown', false)
  await assertAccessible(page)
})

test('the page is small, contains the first question, and never contains correct answers or the token', async (t) => {
  const app = await startShared()
  const evil = `</script><img src=x onerror="document.title='owned'">`
  const { link, token } = await inviteCandidate(app, { ...HINDI, candidate: { language: 'hi', name: evil } })
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
  assert.ok((await question(page)).includes(evil.slice(0, 20)))
  assert.equal(await page.locator('img').count(), 0)
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  t.diagnostic(`${sizes.length} requests, ${bytes} bytes`)
  assert.ok(bytes < MAX_FIRST_VISIT_BYTES, `${bytes} bytes`)
  assert.ok(sizes.length <= 7, `${sizes.length} requests`)

  await press(page, 'हाँ')
  await press(page, 'हाँ')
  await press(page, 'छोड़ें')
  await question(page)
  await options(page).nth(0).tap()
  await allSent(page)
  bodies.push(app.fetch(`/api/v1/candidate/${token}`).then(({ body }) => JSON.stringify(body)))
  bodies.push(app.fetch(new URL(link).pathname).then(({ body }) => body))
  for (const body of await Promise.all(bodies))
    assert.doesNotMatch(body, /"(key|correct|verdict|verdicts|knockout|item_id|token)"/)
  assert.ok(!app.logged.some((line) => line.includes(token)))

  const flood = await Promise.all(Array.from({ length: 40 }, () => app.fetch(new URL(link).pathname)))
  const rateLimited = flood.find(({ status }) => status === 429)!
  assert.match(rateLimited.headers.get('content-type')!, /text\/html/)
  assert.match(rateLimited.body, /That did not work/)
})

test('an answer can be spoken if the browser supports speech recognition, and typed otherwise', async (t) => {
  const app = await startShared()
  const { link, candidacy } = await inviteCandidate(app, HINDI)
  const page = await newPage(t, PHONE)
  await page.addInitScript(`window.SpeechRecognition = class {
    start() { window.recognition = this }
    stop() { this.onend() }
  }`)
  await page.goto(link)
  await press(page, 'हाँ')
  await press(page, 'हाँ')
  await page.getByRole('button', { name: 'बोलें', exact: true }).tap()
  assert.equal(await page.evaluate('recognition.lang'), 'hi-IN')
  await page.evaluate("recognition.onresult({ results: [[{ transcript: 'कल' }], [{ transcript: 'से' }]] })")
  await page.evaluate('recognition.onend()')
  await page.getByRole('button', { name: 'बोलें', exact: true, pressed: false }).waitFor()
  assert.equal(await page.getByRole('textbox').inputValue(), 'कल से')
  await page.reload() // the draft survives a reload
  assert.equal(await page.getByRole('textbox').inputValue(), 'कल से')
  await page.getByRole('button', { name: 'भेजें', exact: true }).tap()
  await allSent(page)
  await options(page).first().waitFor()
  assert.equal((await candidacy()).state.enrichment[1], 'कल से')

  const noSpeech = await newPage(t, PHONE)
  await noSpeech.addInitScript('delete window.webkitSpeechRecognition; delete window.SpeechRecognition')
  await noSpeech.goto((await inviteCandidate(app, HINDI)).link)
  await press(noSpeech, 'हाँ')
  await press(noSpeech, 'हाँ')
  await noSpeech.getByRole('textbox').waitFor()
  assert.equal(await noSpeech.getByRole('button', { name: 'बोलें', exact: true }).count(), 0)
})
