import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emailKinds, emailStatuses, queueEmail } from '../../../server/mail/mail.ts'
import {
  checkPage,
  getButton,
  getNavLink,
  openConsolePage,
  waitForHeading,
} from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { until } from '../../../test/support/until.ts'

test('an operator retries jobs, sees active limits and reads emails in a sandboxed frame', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { context } = app
  const hostileHtml =
    '<h1>Hello</h1><script>top.document.title="taken"</script><img src="https://outside.example/x.png">'
  await context.db.transaction((tx) =>
    queueEmail(tx, context, {
      kind: 'notice',
      to: { address: 'asha@example.com', name: 'Asha Verma' },
      subject: 'Welcome to the console',
      text: `Hello Asha,\n\nopen ${app.url}/console to begin.`,
      html: hostileHtml,
    }),
  )
  await context.db.pool.query(
    `update pgboss.job set state = 'failed', output = '{"message": "the mail server is away"}' where name = 'send-mail'`,
  )
  const { key } = await app.fixtures.createOrg()
  for (let n = 0; n < 140; n++) await app.as(key).post('/skill-requests', { name: '' })

  const page = await openConsolePage(t, app, { allowPolicyViolations: true })
  await getNavLink(page, 'Background jobs').click()
  await waitForHeading(page, 'Background jobs')
  await page.getByText('the mail server is away').waitFor()
  await checkPage(page, 'operator-jobs')
  await getButton(page, 'Retry: send-mail').click()
  await page.getByText('Job queued again: send-mail.').waitFor()
  await page.getByText('No failed jobs.').waitFor()
  await getButton(page, '1 waiting in send-mail').click()
  await page.getByRole('row', { name: /send-mail.*ML_/ }).waitFor()

  await getNavLink(page, 'Limits').click()
  await waitForHeading(page, 'Active limits')
  await page.getByRole('cell', { name: key.keyId }).waitFor()
  await checkPage(page, 'operator-limits')

  await getNavLink(page, 'Emails').click()
  await waitForHeading(page, 'Emails')
  const kindOptions = page.getByLabel('Kind').getByRole('option')
  await until(async () => (await kindOptions.count()) === emailKinds.length + 1)
  assert.deepEqual(
    (await kindOptions.allTextContents()).slice(1),
    emailKinds.map((kind) => kind.replaceAll('_', ' ')),
  )
  assert.deepEqual((await page.getByLabel('Status').getByRole('option').allTextContents()).slice(1), [...emailStatuses])
  await checkPage(page, 'operator-emails')
  await page.getByLabel('Kind').selectOption('sign_in')
  await page.getByText('No email matches these filters.').waitFor()
  await page.getByLabel('Kind').selectOption('notice')
  await page.getByRole('link', { name: 'notice' }).click()
  await page.getByRole('link', { name: `${app.url}/console` }).waitFor()
  await checkPage(page, 'operator-email')
  await getButton(page, 'Preview').click()
  const frame = page.locator('iframe')
  assert.equal(await frame.getAttribute('sandbox'), '')
  await page.frameLocator('iframe').getByRole('heading', { name: 'Hello' }).waitFor()
  assert.notEqual(await page.title(), 'taken')
})
