import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { checkPage, openConsolePage, waitForPhoneAnimations } from '../../../test/browser/console-page.ts'
import { startRecruiterConsole } from '../../../test/browser/recruiter-console.ts'
import { until } from '../../../test/support/until.ts'

/** Asserts that no hidden element makes the page longer than its content. */
async function assertNoExtraHeight(page: Page) {
  await waitForPhoneAnimations(page)
  const tail = await page.evaluate(
    `document.documentElement.scrollHeight - Math.max(innerHeight, scrollY + document.querySelector('.frame').getBoundingClientRect().bottom)`,
  )
  assert.ok((tail as number) < 50, `${page.url()} is ${tail} pixels longer than its content`)
}

test('an operator completes the guided first campaign, and grants the missing credits', async (t) => {
  const { app, consoleUrl } = await startRecruiterConsole(t, { credits: 0 })
  const page = await openConsolePage(t, app)
  await page.goto(consoleUrl('/first-campaign'))
  await page.getByRole('heading', { name: 'Your first campaign' }).waitFor()
  await checkPage(page, 'a-first-1')
  await page.getByRole('button', { name: 'Create workflow' }).click()
  await page.getByRole('button', { name: 'Create job' }).click()
  await page.getByLabel(/^Your name/).fill('Tara')
  await checkPage(page, 'a-first-3')
  await page.getByRole('button', { name: 'Start campaign' }).click()
  const grant = page.getByRole('alert').getByRole('button', { name: 'Grant 100 test credits' })
  await grant.waitFor()
  // The page scrolls to the error after it is rendered.
  await until(async () => {
    const { y, height } = (await grant.boundingBox())!
    return y > 0 && y + height <= page.viewportSize()!.height
  })
  await grant.click()
  await page.getByText('Granted 100 test credits').waitFor()
  await page.getByRole('button', { name: 'Start campaign' }).click()
  await page.getByRole('region', { name: 'Phone of Tara' }).getByRole('button', { name: 'Yes' }).waitFor()
  await page.getByText('The eleven test candidates have finished.').waitFor({ timeout: 80_000 })
  const row = (name: string) => page.getByRole('row').filter({ hasText: name }).innerText()
  for (const [name, text] of [
    ['Asha Rao', /Passes\s+Completed\s+yes\s+interested/],
    ['Imran Khan', /Knocked out\s+Completed\s+no/],
    ['Kavita Singh', /Fails skills\s+Completed\s+no/],
    ['Suresh Patil', /Not interested\s+Completed\s+yes\s+not interested/],
    ['Meena Das', /Declines\s+Declined/],
    ['Joseph Mathew', /Never answers\s+Failed/],
    ['Farida Begum', /Stops answering\s+Failed/],
    ['Gurpreet Gill', /Unreachable\s+Failed could not be reached/],
    ['Lakshmi Nair', /Answers late\s+Completed\s+yes\s+interested/],
    ['Rakesh Yadav', /Opts out\s+Declined/],
    ['Nikhil Joshi', /Inconclusive skills\s+Completed\s+undecided\s+interested/],
  ] as const)
    assert.match(await row(name), text)
  await checkPage(page, 'a-first-4')
  await page.reload() // continues at the same step
  await page.getByText('The eleven test candidates have finished.').waitFor()
  await page.setViewportSize({ width: 360, height: 780 })
  const asha = page.getByRole('row').filter({ hasText: 'Asha Rao' })
  for (const name of ['Qualified', 'Interest']) assert.ok(await asha.locator(`[data-name="${name}"]`).isVisible(), name)
  await checkPage(page, 'a-first-4-phone')
  await page.setViewportSize({ width: 1280, height: 720 })
  await page.getByRole('link', { name: 'Open all simulator phones' }).click()
  await page.getByRole('region', { name: 'Phone of Tara' }).waitFor() // the one that does not answer automatically
  await page.getByRole('link', { name: /Asha Rao/ }).click()
  await page.getByRole('region', { name: 'Phone of Asha Rao' }).getByText('The conversation has ended').waitFor()
  await assertNoExtraHeight(page)
})
