import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getEmail, listEmails } from '../../server/mail/mail.ts'
import { newPage } from '../../test/browser/browser.ts'
import { checkPage, getButton, getNavLink, openConsolePage, waitForHeading } from '../../test/browser/console-page.ts'
import { startConsoleWithResults, startRecruiterConsole } from '../../test/browser/recruiter-console.ts'
import { startApp } from '../../test/support/app.ts'
import { createTestSignInLink, signIn, signInMember } from '../../test/support/console.ts'
import { until } from '../../test/support/until.ts'

test('a recruiter chooses Hindi, and sees the menu, a campaign and a result in Hindi', async (t) => {
  const { app, email, campaignUrl } = await startConsoleWithResults(t)
  const page = await openConsolePage(t, app, { email })
  await getNavLink(page, 'Workflows').waitFor()
  await page.getByLabel('Language').selectOption('हिन्दी')
  await getNavLink(page, 'वर्कफ़्लो').waitFor()
  assert.equal(await page.locator('html').getAttribute('lang'), 'hi')
  await checkPage(page, 'hindi-start')

  await page.reload()
  await getNavLink(page, 'वर्कफ़्लो').waitFor()

  await page.goto(campaignUrl)
  await waitForHeading(page, /March intake/)
  await page.locator('h1 .badge').getByText('पूरा').waitFor()
  await checkPage(page, 'hindi-campaign')

  await getNavLink(page, 'नतीजे').click()
  await waitForHeading(page, 'नतीजे')
  await page.getByRole('table').getByRole('link').first().click()
  await page.locator('h1 .badge').getByText(/योग्य/).waitFor()
  await checkPage(page, 'hindi-result')

  await page.getByRole('link', { name: /^सूचनाएँ/ }).click()
  await page.getByRole('link', { name: '“March intake” में 2 उम्मीदवार योग्य पाए गए' }).waitFor()
  await checkPage(page, 'hindi-notifications')
  await page.goBack()
  await page.locator('h1 .badge').getByText(/योग्य/).waitFor()

  await page.setViewportSize({ width: 360, height: 640 })
  await checkPage(page, 'hindi-result-360')
  await getButton(page, 'मेनू').click()
  await checkPage(page, 'hindi-menu-360')

  await page.getByLabel('भाषा · Language').selectOption('English')
  await getButton(page, 'Menu').waitFor()
  assert.equal(await page.locator('html').getAttribute('lang'), 'en')
})

test('a browser that prefers Hindi starts in Hindi, and the sign-in page has the choice', async (t) => {
  const { app } = await startConsoleWithResults(t)
  const page = await newPage(t, { locale: 'hi-IN' })
  await page.goto(`${app.url}/console/`)
  await waitForHeading(page, 'कंसोल में साइन इन करें')
  await checkPage(page, 'hindi-sign-in')
  await page.getByLabel('भाषा · Language').selectOption('English')
  await waitForHeading(page, 'Sign in to the console')
})

test('the language that is chosen on the sign-in page stays after the sign-in', async (t) => {
  const { app, email } = await startConsoleWithResults(t)
  const page = await newPage(t, { width: 360 })
  await page.goto(`${app.url}/console/`)
  await waitForHeading(page, 'Sign in to the console')
  const choice = page.getByLabel('Language')
  assert.ok((await choice.boundingBox())!.y < 200, 'the choice is at the top of the page')
  await choice.selectOption('हिन्दी')
  await waitForHeading(page, 'कंसोल में साइन इन करें')
  await page.goto(await createTestSignInLink(app, email))
  await getButton(page, 'मेनू').waitFor()
  assert.equal(await page.locator('html').getAttribute('lang'), 'hi')
})

test('errors of the API are shown in Hindi', async (t) => {
  const { app, consoleUrl, orgId } = await startRecruiterConsole(t)
  const { email } = await signInMember(app, orgId, 'recruiter')
  const page = await openConsolePage(t, app, { email })
  await page.getByLabel('Language').selectOption('हिन्दी')
  await getNavLink(page, 'वर्कफ़्लो').waitFor()

  // By the code of the error.
  await page.goto(consoleUrl('/workflows/WF_01KKDSD0J0P26SYTR42FVC31EJ'))
  await page.getByText('यह अब मौजूद नहीं है, या आपको इसे देखने की अनुमति नहीं है।').waitFor()

  // The rule of a field.
  await page.goto(consoleUrl('/workflows/new'))
  await page.getByLabel('नाम', { exact: true }).fill('x'.repeat(300))
  await page.getByText(/^ज़्यादा से ज़्यादा \d+ अक्षर दर्ज करें$/).waitFor()

  // Only the API knows the reason.
  await page.goto(consoleUrl('/analytics?from=2026-03-14&to=2026-03-13'))
  await page.getByText(/^यह नहीं हो सका। सर्वर का संदेश: \S/).waitFor()
})

test('the language is stored with the account, also one that was chosen before signing in', async (t) => {
  const { app, orgId } = await startRecruiterConsole(t)
  const { email } = await signInMember(app, orgId, 'recruiter')
  const accountLanguage = async () => (await (await signIn(app, email)).get('/session')).body.data.language

  const page = await newPage(t)
  await page.goto(`${app.url}/console/`)
  await waitForHeading(page, 'Sign in to the console')
  await page.getByLabel('Language').selectOption('हिन्दी')
  await waitForHeading(page, 'कंसोल में साइन इन करें')
  await page.goto(await createTestSignInLink(app, email))
  await getNavLink(page, 'वर्कफ़्लो').waitFor()
  await until(async () => (await accountLanguage()) === 'hi')

  const otherPage = await openConsolePage(t, app, { email })
  await getNavLink(otherPage, 'वर्कफ़्लो').waitFor()
  await otherPage.getByLabel('भाषा · Language').selectOption('English')
  await getNavLink(otherPage, 'Workflows').waitFor()
  assert.equal(await accountLanguage(), 'en')

  // A choice before signing in does not change the account.
  const thirdPage = await newPage(t, { locale: 'hi-IN' })
  await thirdPage.goto(`${app.url}/console/`)
  await waitForHeading(thirdPage, 'कंसोल में साइन इन करें')
  await thirdPage.getByLabel('भाषा · Language').selectOption('English')
  await waitForHeading(thirdPage, 'Sign in to the console')
  await thirdPage.getByLabel('Language').selectOption('हिन्दी')
  await waitForHeading(thirdPage, 'कंसोल में साइन इन करें')
  await thirdPage.goto(await createTestSignInLink(app, email))
  await getNavLink(thirdPage, 'वर्कफ़्लो').waitFor()
  assert.equal(await accountLanguage(), 'en')
})

test('the language of one account does not become that of the next one in the same browser', async (t) => {
  const { app, orgId } = await startRecruiterConsole(t)
  const first = await signInMember(app, orgId, 'recruiter')
  const second = await signInMember(app, orgId, 'viewer')
  await (await signIn(app, first.email)).put('/account/language', { language: 'hi' })
  const page = await openConsolePage(t, app, { email: first.email })
  await getNavLink(page, 'वर्कफ़्लो').waitFor()

  await page.context().clearCookies()
  await page.goto(await createTestSignInLink(app, second.email))
  await getNavLink(page, 'Workflows').waitFor()
  const session = (await (await signIn(app, second.email)).get('/session')).body.data
  assert.equal(session.language, null)
})

test('the sign-in email is in the language of the sign-in page', async (t) => {
  const app = await startApp(t, { worker: true })
  const { orgId } = await app.fixtures.createOrg()
  const { email } = await signInMember(app, orgId, 'recruiter')
  const page = await newPage(t, { locale: 'hi-IN' })
  await page.goto(`${app.url}/console/`)
  await page.getByLabel('भाषा · Language').selectOption('English')
  const requestLink = async (label: string, button: string) => {
    await page.getByLabel(label).fill(email)
    await getButton(page, button).click()
  }
  const subjects = async () => {
    const emails = await listEmails(app.context.db.queries, { kind: 'sign_in', limit: 10 })
    const contents = emails.map(({ mail_id }) => getEmail(app.context.db.queries, app.context.vault, mail_id))
    return (await Promise.all(contents)).map(({ subject }) => subject).reverse()
  }
  await requestLink('Email address', 'Email me a sign-in link')
  await until(async () => (await subjects()).length === 1)
  await page.reload()
  await page.getByLabel('Language').selectOption('हिन्दी')
  await requestLink('ईमेल पता', 'मुझे साइन-इन लिंक ईमेल करें')
  await until(async () => (await subjects()).length === 2)
  assert.deepEqual(await subjects(), ['Your sign-in link', 'साइन इन करने का आपका लिंक'])
})
