import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newPage } from '../../test/browser/browser.ts'
import { checkPage, getButton, getNavLink, openConsolePage, waitForHeading } from '../../test/browser/console-page.ts'
import { startConsoleWithResults, startRecruiterConsole } from '../../test/browser/recruiter-console.ts'
import { signInMember } from '../../test/support/console.ts'

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
  await page.getByRole('main').getByText('पूरा', { exact: true }).first().waitFor()
  await checkPage(page, 'hindi-result')

  await page.getByRole('link', { name: /^सूचनाएँ/ }).click()
  await page.getByRole('link', { name: '“March intake” में 2 उम्मीदवार योग्य पाए गए' }).waitFor()
  await checkPage(page, 'hindi-notifications')
  await page.goBack()
  await page.getByRole('main').getByText('पूरा', { exact: true }).first().waitFor()

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
