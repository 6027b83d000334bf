import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { queueMail } from '../../../server/mail/mail.ts'
import { button, consolePage, heading, look } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { campaigner, pass, player } from '../../../test/support/campaigns.ts'
import { keepTime } from '../../../test/support/clock.ts'
import { memberOf } from '../../../test/support/console.ts'
import { startReceiver } from '../../../test/support/receiver.ts'

test('a recruiter finds whom to call on the first screen, and takes the list along', async (t) => {
  const app = await startApp(t)
  keepTime(t, app.clock)
  const run = await campaigner(app)
  const { mandate_id } = await run.mandate()
  const made = await run.campaign(
    mandate_id,
    [1, 2, 4, 5].map((number) => player(number)),
    { name: 'March intake' },
  )
  await pass(app, 8000)
  const recruiter = await memberOf(app, run.orgId, 'recruiter')
  const page = await consolePage(t, app, { email: recruiter.email, timezoneId: 'Europe/Berlin', acceptDownloads: true })
  const toCall = page.getByRole('region', { name: 'To call' })
  await toCall.getByRole('row', { name: /Person 1 .*\+919990000001.*March intake/ }).waitFor()
  assert.equal(await toCall.getByRole('row').count(), 2, 'the head, and who qualified and wants the job')
  await page
    .getByRole('region', { name: 'Latest campaigns' })
    .getByRole('row', { name: /March intake completed/ })
    .waitFor()
  await look(page, 'start-recruiter')
  await page.getByRole('link', { name: 'All to call' }).click()
  await heading(page, 'Results')
  await page.getByRole('cell', { name: '+919990000001' }).waitFor()
  assert.equal(await page.getByRole('link', { name: /^Person/ }).count(), 1)
  const downloading = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Export as CSV' }).click()
  const csv = await readFile(await (await downloading).path(), 'utf8')
  assert.match(csv, /ext-1,Person 1,\+919990000001/)
  assert.doesNotMatch(csv, /Person [245]/)
  await page.getByLabel('Verdict').selectOption('')
  await page.getByRole('link', { name: 'Person 5' }).waitFor()
  await look(page, 'results-newest-first')

  const time = page.locator('td time').first()
  const own = await time.textContent()
  assert.match((await time.getAttribute('title'))!, / IST$/)
  await button(page, 'Show times in IST').click()
  assert.match((await time.textContent())!, / IST$/)
  await page.reload() // it is kept
  await page.getByRole('link', { name: 'Person 5' }).waitFor()
  assert.match((await time.textContent())!, / IST$/)
  await button(page, 'Show times in my zone').click()
  assert.equal(await time.textContent(), own)
  await page.goto(`${app.url}/console/${run.orgId}/test/campaigns/${made.campaign.campaign_id}`)
  await page.getByRole('link', { name: 'Who to call' }).click()
  await page.getByRole('cell', { name: '+919990000001' }).waitFor()
})

test('an operator sees at once what needs somebody', async (t) => {
  const app = await startApp(t)
  keepTime(t, app.clock)
  const { context } = app
  const { orgId } = await app.given.org('Metro Staffing')
  const page = await consolePage(t, app)
  await page.goto(`${app.url}/console/operator`)
  await page.getByText('Nothing needs you.').waitFor()
  await look(page, 'operator-now-quiet')

  const mail = { subject: 'Hello', text: 'Hello', html: '<p>Hello</p>', to: { address: 'asha@example.com' } }
  await context.db.transaction((tx) => queueMail(tx, context, { ...mail, kind: 'notice' }))
  const pool = context.db.pool
  await pool.query(`update pgboss.job set state = 'failed', output = '{"message": "away"}' where name = 'send-mail'`)
  await pool.query(`update mails set status = 'failed', last_error = 'no such user'`)
  const owner = await memberOf(app, orgId, 'owner')
  const { url } = await startReceiver(t)
  assert.equal((await owner.post(`/orgs/${orgId}/test/webhooks`, { url })).status, 201)
  await pool.query(`update webhooks set status = 'failing', failing_since = $1`, [new Date(app.clock.now())])
  await page.reload()
  await page.getByText('1 job failed for good.').waitFor()
  await page.getByText('1 mail could not be sent in the last day.').waitFor()
  await page.getByRole('row', { name: /127\.0\.0\.1:\d+.* Metro Staffing, test/ }).waitFor()
  await page.getByRole('navigation').getByRole('link', { name: 'Now 3 troubles' }).waitFor()
  await look(page, 'operator-now-troubles')
  await page.setViewportSize({ width: 360, height: 780 })
  await button(page, 'Menu 3 troubles').click()
  const last = page.getByRole('navigation').getByRole('link', { name: 'Audit log' })
  assert.ok((await last.boundingBox())!.y < 780, 'the whole menu is in view')
  await look(page, 'operator-menu-phone')
  await button(page, 'Menu 3 troubles').click()
  await look(page, 'operator-now-phone')
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.getByRole('link', { name: 'See why, and try again' }).click()
  await heading(page, 'Jobs')
  await page.getByText('away').waitFor()
  await page.getByRole('navigation').getByRole('link', { name: /^Now/ }).click()
  await page.getByRole('link', { name: url }).click()
  await heading(page, /127\.0\.0\.1/)
  await page.getByRole('navigation').getByRole('link', { name: 'Now 3 troubles' }).waitFor() // on every page
})
