import assert from 'node:assert/strict'
import { test } from 'node:test'
import { queueEmail } from '../../../server/mail/mail.ts'
import { checkPage, getButton, openConsolePage, waitForHeading } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { until } from '../../../test/support/until.ts'
import { requestReview } from '../../../test/support/verification.ts'

const MALICIOUS_HTML = `<html><head><style>p { color: rgb(1, 2, 3) }</style><script>top.document.title = 'taken'</script></head>
<body onload="top.document.title = 'taken'">
<h1 style="color: rgb(10, 101, 80)">Hello</h1><p>Asha</p>
<img src="data:image/gif;base64,R0lGODlhAQABAIAAAAUEBAAAACwAAAAAAQABAAACAkQBADs=" alt="dot" width="9" height="9">
<img src="https://outside.example/x.png" alt="outside"><img src="x" onerror="top.document.title = 'taken'" alt="">
<link rel="stylesheet" href="https://outside.example/x.css"><iframe src="/console"></iframe>
<form action="/console/api/sign-out" method="post"><button>Press me</button></form>
<a href="javascript:top.document.title='taken'">Press that</a><a target="_top" href="https://outside.example/">Leave</a>
</body></html>`

test('the email preview shows styles, but runs no scripts and follows no links', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { context } = app
  await app.fixtures.createOrg()
  await context.db.transaction((tx) =>
    queueEmail(tx, context, {
      kind: 'notice',
      to: { address: 'asha@example.com' },
      subject: 'Welcome',
      text: 'Hello Asha',
      html: MALICIOUS_HTML,
    }),
  )
  const page = await openConsolePage(t, app, { allowPolicyViolations: true })
  await page.goto(`${app.url}/console/operator/mails`)
  await page.getByRole('link', { name: 'notice' }).click()
  await waitForHeading(page, /^Welcome/)
  await getButton(page, 'Preview').click()
  assert.equal(await page.locator('iframe').getAttribute('sandbox'), '')
  const email = page.frameLocator('iframe.email-frame')
  const colourOf = (selector: string) =>
    email.locator(selector).evaluate((element: any) => (globalThis as any).getComputedStyle(element).color)
  await email.getByRole('heading', { name: 'Hello' }).waitFor()
  assert.equal(await colourOf('h1'), 'rgb(10, 101, 80)')
  assert.equal(await colourOf('p'), 'rgb(1, 2, 3)')
  const widthOf = (image: string) => email.getByAltText(image).evaluate((element: any) => element.naturalWidth)
  await until(async () => (await widthOf('dot')) === 1) // the image is loaded
  assert.equal(await widthOf('outside'), 0)
  await email.getByRole('button', { name: 'Press me' }).click()
  await email.getByRole('link', { name: 'Press that' }).click()
  await email.getByRole('link', { name: 'Leave' }).click()
  assert.match(await page.title(), /Attestry|Console/i)
  assert.match(page.url(), /\/console\/operator\/mails\/ML_/)
  await page.reload()
  await waitForHeading(page, /^Welcome/) // still signed in
})

test("an operator can preview the reviewer's email", async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  await requestReview(app)
  const page = await openConsolePage(t, app, { width: 360, height: 800, colorScheme: 'dark' })
  await page.goto(`${app.url}/console/operator/mails?kind=review_request`)
  await page.getByRole('link', { name: 'review request' }).click()
  await getButton(page, 'Preview').click()
  await page.frameLocator('iframe.email-frame').getByText('Asha Rao').first().waitFor()
  await checkPage(page, 'operator-email-preview')
})

test('the sign-in link of a member can be copied, and a click cannot use it up', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { context } = app
  const { orgId } = await app.fixtures.createOrg('Metro Staffing')
  await context.db.transaction((tx) =>
    queueEmail(tx, context, {
      kind: 'sign_in',
      to: { address: 'asha@example.com' },
      scope: { orgId, mode: 'test' },
      subject: 'Sign in to Attestry',
      text: 'Open this link: https://attestry.example/console/sign-in#token=abc',
      html: '<p>Sign in</p>',
    }),
  )
  const page = await openConsolePage(t, app)
  await page.goto(`${app.url}/console/operator/mails?kind=sign_in`)
  await page.getByRole('link', { name: 'sign in' }).first().click()
  await waitForHeading(page, /^Sign in to Attestry/)
  await page.getByRole('button', { name: 'Copy sign-in link' }).waitFor()
  assert.equal(await page.locator('a[href*="token=abc"]').count(), 0)
  await page.getByRole('link', { name: 'Metro Staffing' }).waitFor()
})
