import assert from 'node:assert/strict'
import { test } from 'node:test'
import { erasePerson } from '../../server/people/erasure.ts'
import { findVerification } from '../../server/verification/sessions.ts'
import { assertAccessible } from '../../test/browser/axe.ts'
import { newPage } from '../../test/browser/browser.ts'
import { omitFields } from '../../test/browser/omit-fields.ts'
import { saveScreenshot } from '../../test/browser/screenshots.ts'
import { startApp } from '../../test/support/app.ts'
import { requestReview } from '../../test/support/verification.ts'

const PHONE = { width: 320, height: 640, hasTouch: true, isMobile: true }

test('a reviewer on a small phone endorses, rates and comments, and the student is notified', async (t) => {
  const app = await startApp(t, { worker: true })
  const { link, session, key } = await requestReview(app)
  const page = await newPage(t, PHONE)

  await page.goto(link)
  await page.getByRole('heading', { name: 'Asha Rao asks you to confirm their skills' }).waitFor()
  await page.getByText('Metro Ltd', { exact: true }).waitFor()
  await page.getByText('Jan 2023 – Jun 2024', { exact: true }).waitFor()
  const { body: pageData } = await app.fetch(`/api/v1/humanverification/verify-page/${session.id}`)
  const { organisationName } = pageData.data
  assert.ok(organisationName)
  await page
    .getByText(`${organisationName} asked for a verification of the skills of Asha Rao. Asha Rao named you`)
    .waitFor()
  await page.getByText(`Asha Rao and ${organisationName} will see your answer and your name.`).waitFor()
  await page.getByText(/You can answer until \d+ \w+ \d{4}\. You can withdraw/).waitFor()
  await saveScreenshot(page, 'reviewer-phone')
  await assertAccessible(page)
  const sendButton = page.getByRole('button', { name: 'Send my answer' })
  assert.ok(await sendButton.isDisabled())
  const firstSkill = page.getByRole('group', { name: 'Bricklaying' })
  await firstSkill.getByText('Yes, I confirm it').click()
  await firstSkill.getByRole('radio', { name: '4: Very well' }).click()
  await firstSkill.getByRole('button', { name: 'Add a comment' }).click()
  await firstSkill.getByRole('textbox').fill('<b>Straight</b> walls')
  const secondSkill = page.getByRole('group', { name: 'Cement plastering' })
  await secondSkill.getByText('No, I cannot confirm it').click()
  await saveScreenshot(page, 'reviewer-phone-answered')
  assert.equal(page.url(), link.split('#')[0], 'the token leaves the address bar')
  await page.reload() // the draft survives a reload
  assert.equal(
    await page.getByRole('group', { name: 'Bricklaying' }).getByRole('textbox').inputValue(),
    '<b>Straight</b> walls',
  )
  assert.ok(
    await page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
    'the page has no horizontal overflow',
  )
  await page.getByRole('button', { name: 'Send my answer' }).dblclick()
  await page.getByRole('heading', { name: 'Thank you' }).waitFor()
  const answer = page.getByRole('region', { name: 'Your answer about Asha Rao' })
  assert.deepEqual(await answer.getByRole('definition').allInnerTexts(), ['confirmed · Very well', 'not confirmed'])
  await answer.getByRole('button', { name: 'Print or save as PDF' }).waitFor()
  const withdrawal = page.getByText('Withdraw my confirmation')
  await withdrawal.waitFor()
  await saveScreenshot(page, 'reviewer-phone-thanks')
  await assertAccessible(page)

  const outcome = await app.fetch(`/api/v1/verification/${session.id}`, { headers: { 'x-api-key': key } })
  assert.equal(outcome.body.data.status, 'completed')
  assert.deepEqual(
    outcome.body.data.skills.map((skill: any) => [skill.outcome, skill.rating, skill.comment]),
    [
      ['endorsed', 4, '<b>Straight</b> walls'],
      ['not_endorsed', undefined, undefined],
    ],
  )
  await page.goto(link) // changes only the fragment; the page loads itself again
  await page.getByRole('heading', { name: 'This review is complete' }).waitFor()
  await withdrawal.click()
  await page.getByLabel('Why do you withdraw it?').fill('It was another person.')
  await page.getByRole('button', { name: 'Withdraw', exact: true }).click()
  await page.getByRole('heading', { name: 'You withdrew your confirmation' }).waitFor()
})

test('a draft survives a lost connection, and the retry succeeds', async (t) => {
  const app = await startApp(t)
  const { link } = await requestReview(app)
  const page = await newPage(t, PHONE)
  await page.goto(link)
  for (const skill of ['Bricklaying', 'Cement plastering']) {
    await page.getByRole('group', { name: skill }).getByText('Yes, I confirm it').click()
  }

  await page.route('**/humanverification/submit', (route) => route.abort())
  await page.getByRole('button', { name: 'Send my answer' }).click()
  await page.getByText('No connection').waitFor()
  // The next request arrives, but its response is lost.
  await page.unroute('**/humanverification/submit')
  await page.route('**/humanverification/submit', async (route) => {
    const body = route.request().postData()!
    const headers = { 'content-type': 'application/json' }
    await app.fetch('/api/v1/humanverification/submit', { method: 'POST', headers, body })
    await route.abort()
  })
  await page.getByRole('button', { name: 'Send my answer' }).click()
  await page.getByText('No connection').waitFor()
  await page.unroute('**/humanverification/submit')
  await page.getByRole('button', { name: 'Send my answer' }).click()
  await page.getByRole('heading', { name: 'Thank you' }).waitFor()
})

test('a reviewer declines by keyboard, in Hindi, on a wide screen', async (t) => {
  const app = await startApp(t)
  const { link, session, key } = await requestReview(app)
  const page = await newPage(t, { width: 1280, height: 900, locale: 'hi-IN' })
  await page.goto(link)
  await page.getByRole('heading', { name: 'Asha Rao चाहते हैं कि आप उनके हुनर की पुष्टि करें' }).waitFor()
  assert.equal(await page.evaluate('document.documentElement.lang'), 'hi')
  await saveScreenshot(page, 'reviewer-desktop-hindi')
  await assertAccessible(page)

  const declineButton = page.getByRole('button', { name: 'मैं यह समीक्षा नहीं कर सकता/सकती' })
  await declineButton.focus()
  await page.keyboard.press('Enter')
  await page.getByRole('textbox').fill('मैं उन्हें नहीं जानता।')
  await saveScreenshot(page, 'reviewer-desktop-declining')
  await page.getByRole('button', { name: 'समीक्षा से मना करें' }).press('Enter')
  await page.getByRole('heading', { name: 'आपने मना किया' }).waitFor()
  const outcome = await app.fetch(`/api/v1/verification/${session.id}`, { headers: { 'x-api-key': key } })
  assert.equal(outcome.body.data.status, 'declined')
})

test('after the student is erased, the link shows that the request has ended, and the rights of the reviewer', async (t) => {
  const app = await startApp(t)
  const { link, session, scope } = await requestReview(app)
  await app.context.db.transaction(async (tx) => {
    const { personId } = (await findVerification(tx, app.clock, session.id))!
    await erasePerson(tx, app.context, scope, personId, { basis: 'GDPR Article 17', requestedBy: 'the person' })
  })
  const page = await newPage(t, PHONE)
  await page.goto(link)
  await page.getByRole('heading', { name: 'This request has ended' }).waitFor()
  assert.doesNotMatch(await page.locator('body').innerText(), /Asha/)
  await assertAccessible(page)
  await page.getByRole('link', { name: 'Your data and your rights' }).click()
  await page.getByRole('button', { name: 'Erase my data' }).waitFor()
})

test('without the token the review is read-only, user text is escaped and nothing is loaded from other hosts', async (t) => {
  const app = await startApp(t)
  const maliciousHtml = `<img src=x onerror="document.title='owned'">`
  const { link } = await requestReview(app, { name: maliciousHtml })
  const page = await newPage(t, PHONE)
  await page.goto(link.split('#')[0]!)
  await page.getByText('To answer, open the link in your email').waitFor()
  await page.getByText(maliciousHtml).first().waitFor()
  assert.equal(await page.locator('main img').count(), 0)
  assert.ok(await page.getByRole('button', { name: 'Send my answer' }).isDisabled())
  const proof = page.getByRole('link', { name: 'https://example.com/wall' })
  assert.match((await proof.getAttribute('rel'))!, /noopener.*nofollow/)

  const response = await app.fetch('/verify/SV_nothing')
  assert.equal(response.status, 200)
  const policy = response.headers.get('content-security-policy')!
  assert.match(policy, /default-src 'none'/)
  assert.doesNotMatch(policy, /unsafe/)
  assert.equal(response.headers.get('referrer-policy'), 'no-referrer')
  await page.goto(`${app.url}/verify/SV_nothing`)
  await page.getByRole('heading', { name: 'Review not found' }).waitFor()
  await saveScreenshot(page, 'reviewer-phone-nothing')
})

test('the page works with a server before an upgrade, which reports neither files nor the organisation', async (t) => {
  const app = await startApp(t)
  const { link } = await requestReview(app)
  const page = await newPage(t, PHONE)
  await omitFields(page, ['proofFiles', 'organisationName'])
  await page.goto(link)
  await page.getByRole('button', { name: 'Send my answer' }).waitFor()
  await page.getByText('The review takes about a minute').waitFor()
  assert.doesNotMatch(await page.locator('main').innerText(), /undefined/)
})
