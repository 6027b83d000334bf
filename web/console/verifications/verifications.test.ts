import { test } from 'node:test'
import { button, consolePage, look } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { keepTime } from '../../../test/support/clock.ts'
import { requestReview } from '../../../test/support/student.ts'

test("students' sessions by status, and the reviewer's mail once more", async (t) => {
  const app = await startApp(t, { worker: true })
  keepTime(t, app.clock)
  const { orgId } = await requestReview(app)
  const page = await consolePage(t, app)
  await page.goto(`${app.url}/console/${orgId}/live/verifications`)
  await page.getByRole('link', { name: 'Asha Verma' }).waitFor()
  await look(page, 'verifications')
  await page.getByLabel('Status').selectOption('completed')
  await page.getByText('No session').waitFor()
  await page.getByLabel('Status').selectOption('pending_review')
  await page.getByRole('link', { name: 'Asha Verma' }).click()
  await page.getByText('Ravi Kumar').waitFor()
  await page.getByRole('cell', { name: 'Bricklaying' }).waitFor()
  app.clock.advance(120_000)
  await button(page, "Send the reviewer's mail again").click()
  await page.getByText('The mail is on its way again.').waitFor()
  await look(page, 'verification')
  await page.getByRole('link', { name: 'review request' }).first().click()
  await page.getByRole('heading', { level: 1, name: /Asha Verma/ }).waitFor()
})
