import { test } from 'node:test'
import {
  checkPage,
  getButton,
  getNavLink,
  openConsolePage,
  waitForHeading,
} from '../../../test/browser/console-page.ts'
import { plantRing, startVerification } from '../../../test/support/verification.ts'

test('an operator reads a ring, writes a note and dismisses it', async (t) => {
  const calls = await startVerification(t)
  await plantRing(calls)
  const page = await openConsolePage(t, calls.app)
  await page.goto(`${calls.app.url}/console/operator/now`)
  await getNavLink(page, 'Rings').click()
  await waitForHeading(page, 'Endorsement rings')
  await page.getByRole('link', { name: 'Cycle of 3 people' }).waitFor()
  await checkPage(page, 'operator-rings')
  await page.getByRole('link', { name: 'Cycle of 3 people' }).click()
  await waitForHeading(page, 'Cycle of 3 people open')
  await page.getByText(/^1: [0-9a-f]{8}, 2: [0-9a-f]{8}, 3: [0-9a-f]{8}$/).waitFor()
  await checkPage(page, 'operator-ring')
  await page.getByLabel('Note for other operators').fill('One team, checked by phone')
  await getButton(page, 'Dismiss as harmless').click()
  await waitForHeading(page, 'Cycle of 3 people dismissed')
  await page.getByRole('link', { name: 'Endorsement rings', exact: true }).click()
  await page.getByText('No rings with this status.').waitFor()
  await page.getByLabel('Status').selectOption('dismissed')
  await page.getByText('One team, checked by phone').waitFor()
})
