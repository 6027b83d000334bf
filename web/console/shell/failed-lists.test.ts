import assert from 'node:assert/strict'
import { test } from 'node:test'
import { queueEmail } from '../../../server/mail/mail.ts'
import { getButton, openConsolePage } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'

const EMAIL_COUNT = 120

test('a list that cannot be loaded shows the error without placeholders, and so does a further page', async (t) => {
  const app = await startApp(t)
  const { db } = app.context
  await db.transaction(async (tx) => {
    for (let number = 0; number < EMAIL_COUNT; number++) {
      const to = { address: `person-${number}@example.com` }
      await queueEmail(tx, app.context, { kind: 'notice', to, subject: 'Hello', text: 'Hello', html: '<p>Hello</p>' })
    }
  })
  const page = await openConsolePage(t, app)
  await page.goto(`${app.url}/console/operator/mails`)
  const rows = page.locator('tbody tr')
  await rows.nth(10).waitFor()
  const shown = await rows.count()

  await page.route(/cursor=/, (route) =>
    route.fulfill({ status: 503, json: { error: { code: 'BUSY', message: 'Busy.' } } }),
  )
  await getButton(page, 'Show more').click()
  await page.getByRole('alert').waitFor()
  assert.equal(await rows.count(), shown, 'the rows stay')
  await page.unroute(/cursor=/)
  await getButton(page, 'Show more').click()
  await rows.nth(shown).waitFor()
  assert.equal(await page.getByRole('alert').count(), 0, 'the error is gone')

  await page.route(/\/mails\?/, (route) =>
    route.fulfill({ status: 403, json: { error: { code: 'FORBIDDEN', message: 'No.' } } }),
  )
  await page.reload()
  await page.getByRole('alert').waitFor()
  assert.equal(await page.locator('.awaited').first().isVisible(), false)
})
