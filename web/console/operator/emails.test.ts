import assert from 'node:assert/strict'
import { test } from 'node:test'
import { queueMail } from '../../../server/mail/mail.ts'
import { button, consolePage, heading, look } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { keepTime } from '../../../test/support/clock.ts'
import { requestReview } from '../../../test/support/student.ts'

const HOSTILE = `<html><head><style>p { color: rgb(1, 2, 3) }</style><script>top.document.title = 'taken'</script></head>
<body onload="top.document.title = 'taken'">
<h1 style="color: rgb(10, 101, 80)">Hello</h1><p>Asha</p>
<img src="data:image/gif;base64,R0lGODlhAQABAIAAAAUEBAAAACwAAAAAAQABAAACAkQBADs=" alt="dot" width="9" height="9">
<img src="https://outside.example/x.png" alt="outside"><img src="x" onerror="top.document.title = 'taken'" alt="">
<link rel="stylesheet" href="https://outside.example/x.css"><iframe src="/console"></iframe>
<form action="/console/api/sign-out" method="post"><button>Press me</button></form>
<a href="javascript:top.document.title='taken'">Press that</a><a target="_top" href="https://outside.example/">Leave</a>
</body></html>`

test('a mail looks as in a mail program, and nothing in it runs or gets out', async (t) => {
  const app = await startApp(t)
  keepTime(t, app.clock)
  const { context } = app
  await app.given.org()
  await context.db.transaction((tx) =>
    queueMail(tx, context, {
      kind: 'notice',
      to: { address: 'asha@example.com' },
      subject: 'Welcome',
      text: 'Hello Asha',
      html: HOSTILE,
    }),
  )
  const page = await consolePage(t, app)
  await page.goto(`${app.url}/console/operator/mails`)
  await page.getByRole('link', { name: 'notice' }).click()
  await heading(page, /^Welcome/)
  await button(page, 'As it looks').click()
  assert.equal(await page.locator('iframe').getAttribute('sandbox'), '')
  const mail = page.frameLocator('iframe.mail-frame')
  const colour = (selector: string) =>
    mail.locator(selector).evaluate((element: any) => (globalThis as any).getComputedStyle(element).color)
  await mail.getByRole('heading', { name: 'Hello' }).waitFor()
  assert.equal(await colour('h1'), 'rgb(10, 101, 80)')
  assert.equal(await colour('p'), 'rgb(1, 2, 3)')
  assert.equal(await mail.getByAltText('dot').evaluate((image: any) => image.naturalWidth), 1)
  assert.equal(await mail.getByAltText('outside').evaluate((image: any) => image.naturalWidth), 0)
  await mail.getByRole('button', { name: 'Press me' }).click()
  await mail.getByRole('link', { name: 'Press that' }).click()
  await mail.getByRole('link', { name: 'Leave' }).click()
  assert.match(await page.title(), /Attestry|Console/i)
  assert.match(page.url(), /\/console\/operator\/mails\/ML_/)
  await page.reload()
  await heading(page, /^Welcome/) // still signed in
})

test("the reviewer's mail, as the reviewer sees it", async (t) => {
  const app = await startApp(t)
  keepTime(t, app.clock)
  await requestReview(app)
  const page = await consolePage(t, app, { width: 360, height: 800, colorScheme: 'dark' })
  await page.goto(`${app.url}/console/operator/mails?kind=review_request`)
  await page.getByRole('link', { name: 'review request' }).click()
  await button(page, 'As it looks').click()
  await page.frameLocator('iframe.mail-frame').getByText('Asha Verma').first().waitFor()
  await look(page, 'operator-mail-looks')
})
