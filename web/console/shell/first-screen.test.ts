import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { queueEmail } from '../../../server/mail/mail.ts'
import { button, checkPage, consolePage, waitForHeading } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { signInMember } from '../../../test/support/console.ts'
import { campaignPartner, passTime, testNumber } from '../../../test/support/partners.ts'
import { startReceiver } from '../../../test/support/receiver.ts'

test('the start page lists the candidates to call, and the results page exports them', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const run = await campaignPartner(app)
  const { mandate_id } = await run.mandate()
  const created = await run.campaign(
    mandate_id,
    [1, 2, 4, 5].map((number) => testNumber(number)),
    { name: 'March intake' },
  )
  await passTime(app, 8000)
  const recruiter = await signInMember(app, run.orgId, 'recruiter')
  const page = await consolePage(t, app, { email: recruiter.email, timezoneId: 'Europe/Berlin', acceptDownloads: true })
  const toCall = page.getByRole('region', { name: 'To call' })
  await toCall.getByRole('row', { name: /Person 1 .*\+919990000001.*March intake/ }).waitFor()
  assert.equal(await toCall.getByRole('row').count(), 2, 'the header and the candidate who is qualified and interested')
  await page
    .getByRole('region', { name: 'Latest campaigns' })
    .getByRole('row', { name: /March intake completed/ })
    .waitFor()
  await checkPage(page, 'start-recruiter')
  await page.getByRole('link', { name: 'View all to call' }).click()
  await waitForHeading(page, 'Results')
  await page.getByRole('cell', { name: '+919990000001' }).waitFor()
  assert.equal(await page.getByRole('link', { name: /^Person/ }).count(), 1)
  const downloading = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Export CSV' }).click()
  const csv = await readFile(await (await downloading).path(), 'utf8')
  assert.match(csv, /ext-1,Person 1,\+919990000001/)
  assert.doesNotMatch(csv, /Person [245]/)
  await page.getByLabel('Verdict').selectOption('')
  await page.getByRole('link', { name: 'Person 5' }).waitFor()
  await checkPage(page, 'results-newest-first')

  const time = page.locator('td time').first()
  const localText = await time.textContent()
  assert.match((await time.getAttribute('title'))!, / IST$/)
  await button(page, 'Show times in IST').click()
  assert.match((await time.textContent())!, / IST$/)
  await page.reload() // the choice is stored
  await page.getByRole('link', { name: 'Person 5' }).waitFor()
  assert.match((await time.textContent())!, / IST$/)
  await button(page, 'Show times in my time zone').click()
  assert.equal(await time.textContent(), localText)
  await page.goto(`${app.url}/console/${run.orgId}/test/campaigns/${created.campaign.campaign_id}`)
  await page.getByRole('link', { name: 'View candidates to call' }).click()
  await page.getByRole('cell', { name: '+919990000001' }).waitFor()
})

test('the status page shows all alerts, and the menu shows their number', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { context } = app
  const { orgId } = await app.given.org('Metro Staffing')
  const page = await consolePage(t, app)
  await page.goto(`${app.url}/console/operator`)
  await page.getByText('No alerts.').waitFor()
  await checkPage(page, 'operator-status-no-alerts')

  const email = { subject: 'Hello', text: 'Hello', html: '<p>Hello</p>', to: { address: 'asha@example.com' } }
  await context.db.transaction((tx) => queueEmail(tx, context, { ...email, kind: 'notice' }))
  const pool = context.db.pool
  await pool.query(`update pgboss.job set state = 'failed', output = '{"message": "away"}' where name = 'send-mail'`)
  await pool.query(`update mails set status = 'failed', last_error = 'no such user'`)
  const owner = await signInMember(app, orgId, 'owner')
  const { url } = await startReceiver(t)
  assert.equal((await owner.post(`/orgs/${orgId}/test/webhooks`, { url })).status, 201)
  await pool.query(`update webhooks set status = 'failing', failing_since = $1`, [new Date(app.clock.now())])
  await page.reload()
  await page.getByText('1 job failed after the last retry.').waitFor()
  await page.getByText('1 email could not be sent in the last day.').waitFor()
  await page.getByRole('row', { name: /127\.0\.0\.1:\d+.* Metro Staffing, test/ }).waitFor()
  await page.getByRole('navigation').getByRole('link', { name: 'Status 3 alerts' }).waitFor()
  await checkPage(page, 'operator-status-alerts')
  await page.setViewportSize({ width: 360, height: 780 })
  await button(page, 'Menu 3 alerts').click()
  const last = page.getByRole('navigation').getByRole('link', { name: 'Audit log' })
  assert.ok((await last.boundingBox())!.y < 780, 'the whole menu is visible')
  await checkPage(page, 'operator-menu-phone')
  await button(page, 'Menu 3 alerts').click()
  await checkPage(page, 'operator-status-phone')
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.getByRole('link', { name: 'View and retry' }).click()
  await waitForHeading(page, 'Jobs')
  await page.getByText('away').waitFor()
  await page
    .getByRole('navigation')
    .getByRole('link', { name: /^Status/ })
    .click()
  await page.getByRole('link', { name: url }).click()
  await waitForHeading(page, /127\.0\.0\.1/)
  await page.getByRole('navigation').getByRole('link', { name: 'Status 3 alerts' }).waitFor() // on every page
})
