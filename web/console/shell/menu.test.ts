import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  checkPage,
  getButton,
  getNavLink,
  openConsolePage,
  waitForHeading,
} from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { signInMember } from '../../../test/support/console.ts'

test('the whole menu is visible on a low screen, including the sign-out button', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { orgId } = await app.fixtures.createOrg('Metro Staffing')
  await app.fixtures.createOrg('Orion Works') // so that the organisation picker is shown
  const owner = await signInMember(app, orgId, 'owner')
  for (const email of [null, owner.email]) {
    const page = await openConsolePage(t, app, { email, width: 1280, height: 800, timezoneId: 'Europe/Berlin' })
    await page.goto(`${app.url}/console/${orgId}/test`)
    await waitForHeading(page, 'Metro Staffing')
    const linkNames = await page.getByRole('navigation').getByRole('link').allTextContents()
    assert.equal(linkNames.length, email ? 21 : 31)
    const menu = (await page.getByRole('navigation').boundingBox())!
    for (const name of linkNames) {
      const { x, y, height, width } = (await getNavLink(page, name).boundingBox())!
      assert.ok(x + width <= menu.x + menu.width + 1, `${name} ends at ${x + width}, after the menu`)
      assert.ok(y + height <= 800, `${name} is visible`)
      assert.ok(height >= 24 && height < 36 && width >= 24, `${name} is on one line and large enough to tap`)
    }
    const { y, height } = (await getButton(page, 'Sign out').boundingBox())!
    assert.ok(y + height <= 800, `the sign-out button is visible, at ${y + height}`)
    await checkPage(page, `menu-${email ? 'owner' : 'operator'}`)

    // The console does not open an unknown organisation again on the next visit.
    await page.goto(`${app.url}/console/ORG_nothing/test`)
    await waitForHeading(page, 'Organisation not found')
    await page.goto(`${app.url}/console`)
    await waitForHeading(page, 'Metro Staffing')
  }
})

test('a page whose data cannot be loaded shows the error', async (t) => {
  const app = await startApp(t)
  const { orgId } = await app.fixtures.createOrg('Metro Staffing')
  const { email } = await signInMember(app, orgId, 'owner')
  const page = await openConsolePage(t, app, { email })
  let message = 'Start cannot be read.' // the first page loads its data before its link is clicked
  await page.route(/\/console\/api\/(?!session$)/, (route) =>
    route.fulfill({ status: 503, json: { success: false, error: { code: 'RESTARTING', message, details: [] } } }),
  )
  const main = page.locator('main')
  const links = page.getByRole('navigation').getByRole('link')
  for (const name of await links.allTextContents()) {
    if (name === 'People') continue // nothing is loaded before a search
    message = `${name} cannot be read.`
    await getNavLink(page, name).click()
    await main.getByText(message).first().waitFor()
  }
  for (const path of [`/${orgId}/test/campaigns/new`, `/${orgId}/test/notifications`, '/account']) {
    message = `${path} cannot be read.`
    await page.goto(`${app.url}/console${path}`)
    await main.getByText(message).first().waitFor()
    assert.equal(await main.locator('p.waiting').filter({ visible: true }).count(), 0, path)
  }
})
