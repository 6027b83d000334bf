import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible } from '../../test/browser/axe.ts'
import { newPage } from '../../test/browser/browser.ts'
import { saveScreenshot } from '../../test/browser/screenshots.ts'
import { startApp } from '../../test/support/app.ts'
import { candidatePage, inviteCandidate, keyIndex } from '../../test/support/candidate.ts'
import { runClock } from '../../test/support/clock.ts'
import { passAssessment } from '../../test/support/issued-credentials.ts'
import { startVerification } from '../../test/support/verification.ts'

const PHONE = { width: 320, height: 640, hasTouch: true, isMobile: true }

test('a candidate gets a credential only after choosing it, and can withdraw it', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { link, token, getCandidacy } = await inviteCandidate(app, {
    workflow: { languages: ['en', 'hi'] },
    mandate: { skills: [{ skill_id: 'sk_2001', verify: true }] },
    candidate: { language: 'hi', name: 'आशा वर्मा' },
  })
  const { view, reply } = candidatePage(app.url, token)
  for (let { status } = await view(); status === 'open'; { status } = await view()) {
    const index = keyIndex((await getCandidacy()).state)
    const [prompt] = (await view()).prompts.slice(-1)
    const value = index === undefined ? (prompt.choices[0]?.value ?? 'yes') : String(prompt.choices[index].value)
    await reply(prompt.kind === 'words' ? { text: 'कल से' } : { value })
    app.clock.advance(10_000)
  }
  const page = await newPage(t, PHONE)
  await page.goto(link)
  await page.getByRole('heading', { name: 'अपने जाँचे हुए हुनर दूसरों को दिखाएँ' }).waitFor()
  await assertAccessible(page)
  await saveScreenshot(page, 'candidate-320-consent-credential')
  assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'))
  await page.getByRole('button', { name: 'मेरे प्रमाणपत्र बनाएँ' }).click()
  await page.getByRole('heading', { name: 'आपके प्रमाणपत्र तैयार हैं।' }).waitFor()
  await saveScreenshot(page, 'candidate-320-credential')
  await assertAccessible(page)
  const credentialUrl = (await page.locator('section li a').getAttribute('href'))!
  const { body } = await app.fetch(new URL(credentialUrl).pathname)
  assert.doesNotMatch(body, /आशा/, 'the name is shown only if the person wants it')

  await page.getByRole('button', { name: 'वापस लें' }).click()
  await page.getByRole('button', { name: 'हाँ', exact: true }).click()
  await page.getByText('आपके प्रमाणपत्र रद्द कर दिए गए।').waitFor()
  assert.equal((await app.fetch(new URL(credentialUrl).pathname)).status, 404)
})

test('a student gets a credential with the name, and opens the page that manages it later', async (t) => {
  const calls = await startVerification(t)
  const session = await passAssessment(calls)
  const page = await newPage(t, PHONE)
  await page.goto(`${calls.app.url}/session#token=${session.token}`)
  await page.getByRole('checkbox', { name: 'Show my name on the credentials' }).click()
  await assertAccessible(page)
  await saveScreenshot(page, 'student-320-consent-credential')
  await page.getByRole('button', { name: 'Create my credentials' }).click()
  await page.getByText('Save this link.').waitFor()
  await page.reload()
  await page.getByRole('button', { name: 'Manage my credentials' }).click()
  await page.getByRole('heading', { name: 'Your credentials' }).waitFor()
  await page.getByRole('link', { name: 'Bricklaying' }).click()
  await page.getByText('Asha Rao').waitFor()
})

test('a student who waits for a reviewer can decide in advance, and a refusal changes nothing', async (t) => {
  const calls = await startVerification(t)
  const { session } = await calls.requestReview()
  const page = await newPage(t, PHONE)
  await page.goto(`${calls.app.url}/session#token=${session.token}`)
  await page.getByRole('button', { name: 'No, thank you' }).click()
  await page.getByRole('heading', { name: 'Show your verified skills to others' }).waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('button', { name: 'Create my credentials' }).click()
  await page.getByText('The credentials are created when your skills are verified.').waitFor()
  await assertAccessible(page)
})
