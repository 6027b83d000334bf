import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mailKinds, mailStatuses, queueMail } from '../../../server/mail/mail.ts'
import { button, consolePage, heading, look, nav } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { keepTime } from '../../../test/support/clock.ts'
import { until } from '../../../test/support/until.ts'

test('jobs are tried again, limits are seen, mails are read in a closed box', async (t) => {
  const app = await startApp(t)
  keepTime(t, app.clock)
  const { context } = app
  const hostile = '<h1>Hello</h1><script>top.document.title="taken"</script><img src="https://outside.example/x.png">'
  await context.db.transaction((tx) =>
    queueMail(tx, context, {
      kind: 'notice',
      to: { address: 'asha@example.com', name: 'Asha Verma' },
      subject: 'Welcome to the console',
      text: `Hello Asha,\n\nopen ${app.url}/console to begin.`,
      html: hostile,
    }),
  )
  await context.db.pool.query(
    `update pgboss.job set state = 'failed', output = '{"message": "the mail server is away"}' where name = 'send-mail'`,
  )
  const { key } = await app.given.org()
  for (let n = 0; n < 140; n++) await app.as(key).post('/skill-requests', { name: '' })

  const page = await consolePage(t, app)
  await nav(page, 'Jobs').click()
  await heading(page, 'Jobs')
  await page.getByText('the mail server is away').waitFor()
  await look(page, 'operator-jobs')
  await button(page, 'Try again: send-mail').click()
  await page.getByText('The job of send-mail is tried again.').waitFor()
  await page.getByText('No job has failed.').waitFor()
  await button(page, '1 waiting in send-mail').click()
  await page.getByRole('row', { name: /send-mail.*ML_/ }).waitFor()

  await nav(page, 'Limits').click()
  await heading(page, 'Limits in force')
  await page.getByRole('cell', { name: key.keyId }).waitFor()
  await look(page, 'operator-limits')

  await nav(page, 'Mails').click()
  await heading(page, 'Mails')
  const kinds = page.getByLabel('Kind').getByRole('option')
  await until(async () => (await kinds.count()) === mailKinds.length + 1)
  assert.deepEqual(
    (await kinds.allTextContents()).slice(1),
    mailKinds.map((kind) => kind.replaceAll('_', ' ')),
  )
  assert.deepEqual((await page.getByLabel('Status').getByRole('option').allTextContents()).slice(1), [...mailStatuses])
  await look(page, 'operator-mails')
  await page.getByLabel('Kind').selectOption('sign_in')
  await page.getByText('No such mail.').waitFor()
  await page.getByLabel('Kind').selectOption('notice')
  await page.getByRole('link', { name: 'notice' }).click()
  await page.getByRole('link', { name: `${app.url}/console` }).waitFor()
  await look(page, 'operator-mail')
  await button(page, 'As it looks').click()
  const frame = page.locator('iframe')
  assert.equal(await frame.getAttribute('sandbox'), '')
  await page.frameLocator('iframe').getByRole('heading', { name: 'Hello' }).waitFor()
  assert.notEqual(await page.title(), 'taken')
})
